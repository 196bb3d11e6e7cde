"""shardwise.torch with the real PyTorch: what a graph tells, and how compiled modules behave in PyTorch's world."""

import copy
import inspect
import json
import pathlib
import pickle
import re

import pytest
import shardwise as sw
import shardwise.torch
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import checkpoint

MESH = {"dp": 2, "tp": 2}


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.narrow = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return self.narrow(torch.relu(self.wide(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.norm = nn.BatchNorm1d(16)

    def forward(self, x):
        x = self.blocks[0](x)
        x = checkpoint(self.blocks[1], x, use_reentrant=False)
        return self.norm(x)


def net(make=Net, seed=0):
    torch.manual_seed(seed)
    return make()


def close(got, expected, limit=2e-5):
    assert got.shape == expected.shape and got.dtype == expected.dtype
    assert float((got - expected).abs().max()) <= limit * max(float(expected.abs().max()), 1e-6)


# ---- Graphs ------------------------------------------------------------------------------------------------


def graph_of_batch_norm_in_evaluation(**options):
    return sw.torch.export(net(lambda: nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))).eval(), torch.randn(8, 4), **options)


def test_a_graph_has_roles_modules_and_wishes_to_recompute():
    graph = sw.torch.export(nn.Sequential(Block(), nn.LayerNorm(16)), (torch.randn(8, 16),))
    text = str(graph)
    for line in ("input param.0.wide.weight:", "input param.1.bias:", "input input.0:", "input tangent.0:", "grad.0.wide.weight =",
                 'module="0.wide"', 'module="1"', "phase=backward"):
        assert line in text
    assert graph.tangents == ["tangent.0"] and "recompute" not in text
    tagged = str(sw.torch.export(Checkpointed(), torch.randn(8, 16)))
    assert 'recompute=prefer_recompute' in tagged and 'module="block.wide"' in tagged


class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=False)


def test_the_command_line_reads_the_same_graph(tmp_path):
    graph = sw.torch.export(Block(), torch.randn(8, 16))
    path = tmp_path / "block.json"
    path.write_bytes(graph.fx_json)
    assert json.loads(graph.fx_json)["format"] == "ap-graph-1"
    assert sw.load_graph(path).to_bytes() == graph.to_bytes()


def test_an_exported_graph_runs_as_any_other():
    module, x, dy = net(Block), torch.randn(8, 16), torch.randn(8, 16)
    graph = sw.torch.export(module, x)
    values = graph.state() | graph.arguments(x) | {graph.tangents[0]: dy}
    assert sw.tensor(values["param.wide.weight"]).address == module.wide.weight.data_ptr()  # shared, not copied
    results = sw.compile(graph, MESH).executor().run(values)
    expected = module(x)
    expected.backward(dy)
    close(graph.results(results), expected.detach())
    for name, parameter in module.named_parameters():
        close(torch.from_dlpack(results[f"grad.{name}"]), parameter.grad)


def test_without_training_there_is_no_gradient():
    graph = graph_of_batch_norm_in_evaluation(training=False)
    text = str(graph)
    assert "tangent" not in text and "grad" not in text and graph.tangents == []


def test_arguments_of_another_kind_are_refused():
    graph = sw.torch.export(Block(), torch.randn(8, 16))
    with pytest.raises(sw.InvalidArgument, match=r"argument 0 is torch.float32\[4, 16\]; the graph was made with torch.float32\[8, 16\]"):
        graph.arguments(torch.randn(4, 16))
    with pytest.raises(sw.InvalidArgument, match="the graph was made with"):
        graph.arguments(torch.randn(8, 16), 1)


class Unknown(nn.Module):
    def forward(self, x):
        return torch.linalg.eigvalsh(x) + torch.linalg.det(x).sum()


class Asks(nn.Module):
    def forward(self, x):
        return x + 1 if x.sum().item() > 0 else x


def test_what_cannot_be_a_graph_says_why():
    with pytest.raises(sw.Unimplemented, match=r"ops that are not known: .*aten\._linalg_eigh"):
        sw.torch.export(Unknown(), torch.eye(8), training=False)
    with pytest.raises(sw.Unimplemented, match="Asks cannot be traced as one graph"):
        sw.torch.export(Asks(), torch.ones(8))
    with FakeTensorMode():
        on_gpu = torch.empty(8, 16, device="cuda")
    with pytest.raises(sw.InvalidArgument, match="device cuda"):
        sw.torch.export(Block(), on_gpu)


def tied_net(device):
    with torch.device(device):
        net = Net()
    net.blocks[1].wide.weight = net.blocks[0].wide.weight
    return net


def test_a_module_without_values_makes_the_same_graph():
    def text(graph):
        return re.sub(r"(seq|ac)=[0-9]+", "", str(graph))  # PyTorch continues these numbers from graph to graph

    x = torch.randn(8, 16)
    made, partly = sw.torch.export(tied_net("cpu"), x), tied_net("cpu")
    partly.blocks[0].narrow.to("meta")
    for net in (partly, tied_net("meta")):
        graph = sw.torch.export(net, x.to("meta"))
        assert text(graph) == text(made)
        assert graph.module is net and graph.state()["param.blocks.0.narrow.weight"] is net.blocks[0].narrow.weight
    executor = sw.compile(graph, MESH).executor()
    with pytest.raises(BufferError, match="meta"):
        executor.run(graph.state() | graph.arguments(x) | {"tangent.0": torch.ones(8, 16)})


# ---- Compiled modules --------------------------------------------------------------------------------------


def test_training_goes_as_pytorch_goes():
    """Compares losses, weights and running statistics of five steps. Adam is not used: it would turn the rounding error of a zero
    gradient into full steps."""
    ours, theirs = net(), net()
    compiled = sw.torch.compile(ours, mesh=MESH)
    x, y = torch.randn(8, 16), torch.randn(8, 16)
    losses = []
    for module, state in ((compiled, ours), (theirs, theirs)):
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
        for _ in range(5):
            optimizer.zero_grad()
            loss = (module(x) - y).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert losses[:5] == pytest.approx(losses[5:], rel=2e-5) and losses[4] < losses[0]
    for name, value in theirs.state_dict().items():
        assert torch.allclose(ours.state_dict()[name], value, rtol=1e-3, atol=1e-5), name
    assert int(ours.norm.num_batches_tracked) == 5
    compiled.eval(), theirs.eval()
    with torch.no_grad():
        close(compiled(x), theirs(x), 1e-3)
    assert int(ours.norm.num_batches_tracked) == 5


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.register_buffer("mean", torch.zeros(16))
        self.register_buffer("calls", torch.tensor(0))

    def forward(self, x, seen):
        y = self.linear(x)
        self.mean.mul_(0.5).add_(y.detach().mean(0))
        self.calls += 1
        seen.add_(x.detach())
        return y - self.mean


def test_what_the_module_changes_is_changed():
    """In-place changes of buffers and arguments take effect, with gradients and without."""
    ours, theirs = net(Counts), net(Counts)
    compiled = sw.torch.compile(ours, mesh=MESH)
    results = []
    for module, state in ((compiled, ours), (theirs, theirs)):
        seen, x = torch.zeros(8, 16), torch.linspace(-1, 1, 128).reshape(8, 16)
        first = module(x, seen)
        first.square().sum().backward()
        with torch.no_grad():
            second = module(x, seen)
        results.append([first.detach(), second, seen, state.mean, state.linear.weight.grad])
        assert int(state.calls) == 2
    for got, expected in zip(*results, strict=True):
        close(got, expected)


def test_two_calls_can_wait_for_their_backward_passes():
    module = net(Block)
    compiled = sw.torch.compile(module, mesh=MESH)
    a, b = (torch.randn(8, 16, requires_grad=True) for _ in range(2))
    first, second = compiled(a), compiled(b)
    second.square().sum().backward()
    first.square().sum().backward(retain_graph=True)
    want_a, want_b = (torch.autograd.grad(module(t).square().sum(), t)[0] for t in (a, b))
    close(a.grad, want_a)
    close(b.grad, want_b)
    first.square().sum().backward()
    close(a.grad, 2 * want_a)


class Sigmoid(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        return torch.sigmoid(self.linear(x))


def test_a_result_can_be_written_to():
    """The result's memory must not be memory that the backward pass or another run still reads."""
    module = net(Sigmoid)
    compiled = sw.torch.compile(module)
    x = torch.randn(8, 16, requires_grad=True)
    y = compiled(x)
    kept = compiled(x).detach()
    copied = kept.clone()
    (y * 1).sum().backward(retain_graph=True)
    wanted = x.grad.clone()
    x.grad = None
    y.detach().zero_()
    compiled(x + 1)
    (y * 1).sum().backward()
    assert torch.equal(x.grad, wanted) and torch.equal(kept, copied)


def test_what_autograd_cannot_do_here_is_refused():
    module = net(Block)
    compiled = sw.torch.compile(module)
    x = torch.randn(8, 16, requires_grad=True)
    (gradient,) = torch.autograd.grad(compiled(x).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()
    y = compiled(x)
    with torch.no_grad():
        module.narrow.weight.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_weights_are_read_where_they_are():
    module = net(Block)
    compiled = sw.torch.compile(module, mesh=MESH)
    x = torch.randn(8, 16)
    with torch.no_grad():
        compiled(x)
        module.wide.weight.mul_(3)
        close(compiled(x), module(x))
        module.narrow.weight = nn.Parameter(torch.randn(16, 32))
        close(compiled(x), module(x))
        assert len(compiled._calls) == 1
        module.double()
        close(compiled(x.double()), module(x.double()))


def test_autocast_is_part_of_the_graph():
    module = net(Block)
    compiled = sw.torch.compile(module, mesh=MESH)
    x = torch.randn(8, 16)
    assert compiled(x).dtype is torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        got, expected = compiled(x), module(x)
    close(got.detach(), expected.detach(), 2e-2)  # bf16 has about three digits
    got.float().sum().backward()
    assert module.wide.weight.grad.dtype is torch.float32


class Shaped(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)
        self.register_buffer("scale", torch.tensor(2.0))

    def forward(self, x, *, times=1.0, extra=None, kind="relu"):
        y = self.linear(x) * self.scale * times + torch.arange(16.0)
        y = torch.relu(y) if kind == "relu" else y
        if extra is not None:
            y = y + extra["bias"]
        return {"y": y, "rest": (y[:, 0], None, 3, x, self.linear.weight), "best": y.argmax(-1)}


def test_arguments_and_results_of_any_structure():
    module = net(Shaped)
    compiled = sw.torch.compile(module, mesh=MESH)
    x, bias = torch.randn(8, 16), torch.randn(16, requires_grad=True)
    for options in ({}, {"times": 2.0}, {"times": 2.0, "extra": {"bias": bias}, "kind": "none"}, {"times": 2.0}):
        got, expected = compiled(x, **options), module(x, **options)
        assert got.keys() == expected.keys() and got["rest"][1:3] == (None, 3) and got["rest"][3] is x
        assert got["rest"][4] is module.linear.weight
        close(got["y"].detach(), expected["y"].detach())
        close(got["rest"][0].detach(), expected["rest"][0].detach())
        assert torch.equal(got["best"], expected["best"]) and not got["best"].requires_grad
    assert len(compiled._calls) == 3  # the last call is equal to the second
    got, expected = (m(x, extra={"bias": bias}) for m in (compiled, module))
    for result in (got, expected):
        bias.grad = None
        (result["y"].square().sum() + result["rest"][0].sum()).backward()
        result["bias"] = bias.grad
    close(got["bias"], expected["bias"])
    close(compiled(x[:4])["y"].detach(), module(x[:4])["y"].detach())


def test_frozen_and_tied_parameters():
    def make():
        module = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16), nn.Linear(16, 16))
        module[3].weight = module[0].weight
        module[2].weight.requires_grad_(False)
        return module

    ours, theirs = net(make), net(make)
    compiled = sw.torch.compile(ours, mesh=MESH)
    x = torch.randn(8, 16)
    for module in (compiled, theirs):
        module(x).square().sum().backward()
    assert ours[2].weight.grad is None and ours[0].weight is ours[3].weight
    for name, parameter in theirs.named_parameters():
        if parameter.requires_grad:
            close(ours.get_parameter(name).grad, parameter.grad)
    ours[2].weight.requires_grad_(True)
    compiled(x).sum().backward()
    assert ours[2].weight.grad is not None


def test_dropout_draws_from_pytorchs_generator():
    module = nn.Dropout(0.5)
    compiled = sw.torch.compile(module, mesh=MESH)
    x = torch.ones(32, 32, requires_grad=True)
    torch.manual_seed(3)
    first, second = compiled(x), compiled(x)
    torch.manual_seed(3)
    assert torch.equal(compiled(x), first) and not torch.equal(first, second)
    assert set(first.unique().tolist()) == {0.0, 2.0} and 0.35 < float((first > 0).float().mean()) < 0.65
    first.sum().backward()
    assert torch.equal(x.grad, first.detach())


def test_copies_and_pickles_plan_again():
    module = net(Block)
    compiled = sw.torch.compile(module, mesh=MESH)
    x = torch.randn(8, 16)
    y = compiled(x)
    for other in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert torch.equal(other(x), y) and other.module is not module
    assert compiled.plan(x).mesh == MESH and compiled.plan(x) is compiled.plan(x)


def test_options_are_those_of_plans():
    compiled = sw.torch.compile(net(Block), mesh=MESH, pins={"param.wide.weight": "S(0)R"})
    assert compiled.plan(torch.randn(8, 16)).layouts["param.wide.weight"] == "S(0)R"
    with pytest.raises(TypeError, match="colour"):
        sw.torch.compile(net(Block), colour="red")(torch.randn(8, 16))


# ---- Documents ---------------------------------------------------------------------------------------------


def test_the_blocks_of_the_document_run(capsys):
    document = pathlib.Path(__file__).resolve().parents[2] / "bindings/python/TORCH.md"
    text = document.read_text()
    found = list(re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S))
    assert len(found) == 3 and len(re.findall("^```", text, re.M)) == 6
    names = {}
    for block in found:
        line = text[:block.start()].count("\n") + 1
        exec(compile("\n" * line + block[1], str(document), "exec"), names)
    printed = capsys.readouterr().out
    assert "%mm = mm(" in printed and 'module="0"' in printed and "dp=8,tp=8" in printed
    assert names["gradient"].shape == (256, 64) and names["output"].shape == (32, 64)


def test_every_public_name_has_a_docstring():
    for name in sw.torch.__all__:
        thing = getattr(sw.torch, name)
        members = [m for key, m in vars(thing).items() if not key.startswith("_") and callable(m)] if isinstance(thing, type) else []
        assert all(inspect.getdoc(what) for what in (thing, *members)), name
