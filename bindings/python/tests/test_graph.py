"""Graphs by calls."""

import inspect
import itertools
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, ROOT, mlp, run_on_one_rank

import shardwise as sw

X = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
Y = X[::-1].copy() / 2


@pytest.mark.parametrize(("build", "expected"), [
    (lambda x, y: x + y, X + Y), (lambda x, y: x - y, X - Y), (lambda x, y: x * y, X * Y), (lambda x, y: x / y, X / Y),
    (lambda x, y: 2.0 + x, 2 + X), (lambda x, y: 2.0 - x, 2 - X), (lambda x, y: 2 * x, 2 * X), (lambda x, y: 2.0 / x, 2 / X),
    (lambda x, y: x ** 2, X ** 2), (lambda x, y: x ** y, X ** Y), (lambda x, y: 2.0 ** y, 2 ** Y), (lambda x, y: -x, -X), (lambda x, y: abs(x - 5.0), abs(X - 5)),
    (lambda x, y: x // 2.0, X // 2), (lambda x, y: x % 3.0, X % 3),
    (lambda x, y: (x < y).to_copy(dtype="f32"), (X < Y).astype(np.float32)), (lambda x, y: (x >= 6.0).to_copy(dtype="f32"), (X >= 6) * 1.0),
    (lambda x, y: (x <= y).to_copy(dtype="f32"), (X <= Y) * 1.0), (lambda x, y: (x > y).to_copy(dtype="f32"), (X > Y) * 1.0),
    (lambda x, y: x @ y.T, X @ Y.T), (lambda x, y: x.T, X.T), (lambda x, y: x[1], X[1]), (lambda x, y: x[:, 1:3], X[:, 1:3]),
    (lambda x, y: x[..., 0], X[..., 0]), (lambda x, y: x[None, 1:, ::2], X[None, 1:, ::2]), (lambda x, y: x[0][:, None], X[0][:, None]),
    (lambda x, y: x.sum(dims=[0]), X.sum(0)), (lambda x, y: x.sum([1], True), X.sum(1, keepdims=True)),
    (lambda x, y: sw.ops.cat([x, y], dim=1), np.concatenate([X, Y], 1)), (lambda x, y: sw.ops.cat(x, y), np.concatenate([X, Y])),
    (lambda x, y: sw.ops.einsum(x, y, equation="ab,ab->a"), (X * Y).sum(1)),
    (lambda x, y: x.max(dim=1)[0], X.max(1)), (lambda x, y: x.split(2, dim=1)[-1], X[:, 2:]),
    (lambda x, y: x.clamp(min=3.0), X.clip(3)), (lambda x, y: x.graph.constant("c", [[1, 2, 3, 4]], "f32") * x, X * [1, 2, 3, 4]),
])
def test_operators_compute_what_numpy_does(build, expected):
    np.testing.assert_allclose(run_on_one_rank(build, x=X, y=Y), expected, rtol=1e-6)


@pytest.mark.parametrize(("left", "right"), [((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((4,), (4, 5)), ((6, 2, 3, 4), (6, 2, 4, 5)),
                                             ((3, 4), (2, 4, 5))])
def test_matmul_of_any_rank(left, right):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal(left).astype(np.float32), rng.standard_normal(right).astype(np.float32)
    np.testing.assert_allclose(run_on_one_rank(lambda a, b: a @ b, a=a, b=b), a @ b, rtol=1e-4, atol=1e-5)


def test_every_operation_of_the_library_is_there_with_its_parameters():
    from shardwise._native import clib

    names = {clib.shw_op_name(i) for i in range(clib.shw_op_count())}
    assert set(dir(sw.ops)) == names and len(names) > 130
    for name in names:
        function = getattr(sw.ops, name)
        assert len(inspect.signature(function).parameters) == clib.shw_op_num_params(clib.shw_op_find(name))
        assert name in function.__doc__
    assert str(inspect.signature(sw.ops.slice)) == ("(self: 'Node', dim: 'int | Dim' = 0, start: 'int | Dim' = 0, end: 'int | Dim | None' = None, "
                                                    "step: 'int | Dim' = 1) -> 'Node'")


def here() -> int:
    return inspect.currentframe().f_back.f_lineno


def test_a_shape_error_names_the_line():
    graph = sw.Graph()
    x = graph.input("x", (64, 128))
    with pytest.raises(sw.InvalidArgument, match=r"mm: expected \[m,k\] × \[k,n\]") as caught:
        line = here(); x @ x  # noqa
    assert f"{__file__}:{line}" in str(caught.value)
    assert isinstance(caught.value, ValueError)
    graph.result(x)
    assert graph.summary()["num_nodes"] == 1  # the graph is as it was before


def test_an_error_of_the_compilation_names_the_line():
    graph = sw.Graph()
    x = graph.input("x", (8, 8))
    line = here(); y = x.sharding_constraint("S(0)RR")  # noqa
    graph.result(y)
    with pytest.raises(sw.Error) as caught:
        sw.compile(graph, {"a": 2, "b": 2})
    assert f"{__file__}:{line}" in str(caught.value), caught.value
    assert graph.line_of(caught.value.node_index) == f"{__file__}:{line}"


def test_names_of_other_libraries_lead_to_operations():
    known = {*dir(sw.ops), "@"}
    assert all(set(here.split(", ")) <= known and there not in known for there, here in sw.ops.ELSEWHERE.items())


def test_one_dim_needs_no_list():
    assert np.array_equal(run_on_one_rank(lambda x: x.sum(1), x=X), X.sum(1))
    assert np.allclose(run_on_one_rank(lambda x: x.mean(dims=0), x=X), X.mean(0))
    graph = sw.Graph()
    values, _ = results = graph.input("x", (3, 4)).max(1)
    assert len(results) == 2 and repr(results) == "<2 results of %1>" and values.shape == (3,)


def test_a_mesh_is_a_dict_of_sizes(graph):
    for mesh in ([2, 4], {"dp": "4"}, {2: 4}):
        with pytest.raises(TypeError, match="mesh"):
            sw.compile(graph, mesh)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda g, x: g.op("matmull", x), sw.NotFound, "matmull"),
    (lambda g, x: sw.ops.nothing, AttributeError, "nothing"),
    (lambda g, x: x.nothing(), AttributeError, "no method 'nothing'"),
    (lambda g, x: x.relu(1), TypeError, "takes no 1 further"),
    (lambda g, x: x.nothing(), AttributeError, r"dir\(shardwise.ops\) lists all"),
    (lambda g, x: x.reshape(8), AttributeError, "no method 'reshape'; here that is view"),
    (lambda g, x: x.soft_max(1), AttributeError, "no method 'soft_max'; did you mean softmax"),
    (lambda g, x: sw.ops.concat([x, x]), AttributeError, "no operation 'concat'; here that is cat"),
    (lambda g, x: x + np.ones((4, 8)), TypeError, r"an array with the shape \(4, 8\): Graph.constant"),
    (lambda g, x: x.sum(dim=[0]), TypeError, "has no parameter 'dim'; did you mean dims"),
    (lambda g, x: x.softmax(axis=0), TypeError, "has no parameter 'axis'; did you mean dim"),
    (lambda g, x: x.permute(), TypeError, "'dims' is missing"),
    (lambda g, x: x.permute(dims=1.5), TypeError, "dims must be int"),
    (lambda g, x: x.permute([0, 0]), sw.InvalidArgument, "permute"),
    (lambda g, x: x + "one", TypeError, "other must be"),
    (lambda g, x: x.mm(3), TypeError, "mat2 must be a node"),
    (lambda g, x: x.mm(sw.Graph().input("x", (2, 2))), ValueError, "another graph"),
    (lambda g, x: bool(x), TypeError, "truth value"),
    (lambda g, x: list(x), TypeError, "unbind"),
    (lambda g, x: x[0, 0, 0], IndexError, "3 indices"),
    (lambda g, x: g.input("x", (2,), "f33"), TypeError, "f33"),
    (lambda g, x: g.input("y", (2,), role="thing"), ValueError, "role 'thing'"),
    (lambda g, x: g.parameter("", (2,)), sw.InvalidArgument, "name"),
    (lambda g, x: g.constant("c", np.zeros(1 << 20, np.float32)), sw.InvalidArgument, "1 MiB|1048576"),
    (lambda g, x: sw.ops.full([2], 1.0), TypeError, "needs graph="),
    (lambda g, x: sw.Graph.from_bytes(b"nothing"), sw.InvalidArgument, "bytes"),
    (lambda g, x: sw.Graph.from_bytes(mlp().to_bytes()).input("x", (2,)), ValueError, "cannot be added to"),
])
def test_what_does_not_fit_is_refused(call, error, message):
    graph = sw.Graph()
    x = graph.input("x", (4, 4))
    with pytest.raises(error, match=message):
        call(graph, x)


def test_modules_and_phases_are_stored():
    graph = sw.Graph(source_lines=True)
    x = graph.input("x", (4, 4))
    with graph.module("layers.0"), graph.module("ffn"), graph.backward(), graph.recompute("must_save"):
        y = graph.op("relu", x, name="activation")
    graph.result(y, "y")
    text = str(graph)
    for stored in ("activation", "layers.0.ffn", "backward", "test_graph.py:", "must_save"):
        assert stored in text, text
    assert "test_graph.py" not in str(mlp())  # not stored unless asked for: graphs are the same wherever they are built
    assert str(sw.load_graph(text.encode())) == text


def test_onnx_models_are_imported():
    model = ROOT / "tests/data/onnx/encoder_dynamo.onnx"
    with pytest.raises(sw.Unavailable, match="libshardwise_onnx.so"):
        sw.load_onnx(model, plugin="/nowhere.so")
    try:
        graph, values = sw.load_onnx(model, sizes={"batch": 4, "sequence": (2, 32)})
    except sw.Unavailable:
        pytest.skip("the library was built without protobuf")
    assert sorted(values) == sorted(re.findall(r"^input (param\.[^:]+):", str(graph), re.M))
    assert values["param.m.embeddings.word_embeddings.weight"].shape == (64, 16)
    with pytest.raises(sw.InvalidArgument, match="'batch', 'sequence'"):
        sw.load_onnx(model.read_bytes())


def test_symbols_become_sizes():
    graph = sw.Graph()
    n = graph.symbol("n", minimum=1, maximum=64, hint=16)
    x = graph.input("x", (2 * n + 1, 4))
    assert x.shape == (33, 4)
    y = x.slice(dim=0, end=n - 1)
    graph.result(y, "y")
    assert "2*n+1" in str(graph) and y.shape == (15, 4)
    assert str(3 - n) == "-1*n+3" and (n + n == 2 * n) and hash(n + 1) == hash(1 + n)
    assert sw.Dim.parse("2*n+-1").at({"n": 5}) == 9


def train_graph() -> sw.Graph:
    """The graph of examples/c/train.c, in its order."""
    batch, inputs, hidden, outputs = 32, 16, 64, 8
    g = sw.Graph()
    w1, w2 = g.parameter("w1", (inputs, hidden), state=True), g.parameter("w2", (hidden, outputs), state=True)
    x, target = g.input("x", (batch, inputs)), g.input("target", (batch, outputs))
    a = (x @ w1).relu()
    error = a @ w2 - target
    g.result((error * error).mean(), "loss")
    with g.backward():
        dy = error * (2.0 / (batch * outputs))
        dw2 = a.T @ dy
        da = dy @ w2.T
        dh = da.threshold_backward(a, 0)
        dw1 = x.T @ dh
        g.update(w1, w1 - dw1 * 0.5, in_place=True)
        g.update(w2, w2 - dw2 * 0.5, in_place=True)
    return g


def test_plans_equal_those_of_the_c_example_byte_by_byte(tmp_path, prefix):
    program, of_c = tmp_path / "train", tmp_path / "train.swplan"
    subprocess.run(["cc", "-std=c99", ROOT / "examples/c/train.c", f"-I{prefix}/include", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib",
                    "-lshardwise", "-lm", "-o", program], check=True)
    subprocess.run([program, of_c], check=True, capture_output=True)
    assert sw.compile(train_graph(), {"dp": 2, "tp": 2}).to_bytes() == of_c.read_bytes()


def test_equal_graphs_have_equal_bytes():
    assert mlp().to_bytes() == mlp().to_bytes()
    assert sw.compile(mlp(), {"a": 4}, threads=1).to_bytes() == sw.compile(mlp(), {"a": 4}, threads=3).to_bytes()


def test_graphs_are_saved_and_loaded(tmp_path):
    graph = mlp()
    graph.save(tmp_path / "g.swgraph")
    loaded = sw.load(tmp_path / "g.swgraph")
    assert isinstance(loaded, sw.Graph) and loaded.to_bytes() == graph.to_bytes()
    assert loaded.summary() == graph.summary() and graph.summary()["parameter_bytes"] == 2 * 4 * 128 * 512
    assert re.search("14 nodes, 2 parameters", repr(loaded)), repr(loaded)


def test_graphs_of_pytorch_are_imported():
    graph = sw.load(DATA / "graphs/llama_tiny_2x4.graph.pre.json.gz")
    assert isinstance(graph, sw.Graph) and graph.summary()["num_parameters"] == 21
    with pytest.raises(sw.InvalidArgument):
        sw.load(b"{}")
    with pytest.raises(FileNotFoundError):
        sw.load("none.swgraph")
    with pytest.raises(sw.InvalidArgument, match=f"{re.escape(__file__)}: line 1, column 1"):
        sw.load(__file__)


def test_entries_share_what_they_compute():
    graph = sw.Graph()
    x, w = graph.input("x", (4, 4)), graph.parameter("w", (4, 4))
    h = graph.result((x @ w).relu(), "h")
    y = graph.result((x @ w) * 2.0, "y")
    first = graph.entry("first", [h])
    assert graph.entry("second", [y], weight=3, after=[first]) == 1
    plan = sw.compile(graph)
    assert [(e["name"], e["weight"], e["after"]) for e in plan.entries] == [("first", 1.0, ()), ("second", 3.0, (0,))]


def test_names_of_every_dtype():
    for a, b in itertools.combinations(sw.DType, 2):
        assert a != b
    assert sw.DType("float32") is sw.DType("f32") is sw.DType(np.dtype("float32")) is sw.DType.f32
    graph = sw.Graph()
    for dtype in sw.DType:
        assert graph.input(f"x_{dtype}", (2,), dtype).dtype is dtype
    assert graph.input("n", (2,), np.float16).dtype is sw.DType.f16
    assert Path(sw.__file__).with_name("py.typed").exists()
