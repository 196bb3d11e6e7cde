"""Modules that run as plans, with autograd."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.autograd.function import once_differentiable
from torch.utils import _pytree as pytree

from .._compile import compile as compile_graph
from ..executor import Executor, Session
from ..plan import Plan
from ._capture import tensors_of
from ._export import TorchGraph, as_torch, export_call

SEED = "seed.random"
"""The port of the seed of a run that draws random numbers."""


class CompiledModule(torch.nn.Module):
    """A module that runs as a plan, on virtual ranks. It holds `module`, and has the same parameters.

    The first call makes a plan. Further plans are made for arguments with other shapes, types or numbers, for another value of
    ``module.training``, and for calls with and without gradients. Side effects of the module, such as printing or changes of Python objects, take
    place only while it is traced, not in each call.
    """

    def __init__(self, module: torch.nn.Module, mesh: Mapping[str, int] | None, options: Mapping[str, Any]) -> None:
        super().__init__()
        self.module = module
        self._mesh = mesh
        self._options = dict(options)
        self._calls: dict[Any, _Call] = {}
        self._lock = threading.Lock()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """As ``forward`` of `module`: runs the plan for these arguments."""
        return self._call_for(args, kwargs).run(args, kwargs)

    def plan(self, *args: Any, **kwargs: Any) -> Plan:
        """The plan that a call with these arguments runs. If there is none yet, it is made."""
        return self._call_for(args, kwargs).plan

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickled modules make their plans again."""
        return {**super().__getstate__(), "_calls": {}, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._lock = threading.Lock()

    def _call_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
        training = torch.is_grad_enabled() and any(t.requires_grad for t in tensors_of(self.module, args, kwargs))
        leaves, spec = pytree.tree_flatten((args, kwargs))
        modes = tuple(part.training for part in self.module.modules())
        state = tuple(_kind(tensor) for tensor in tensors_of(self.module))
        casts = torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu")
        key = (training, spec, tuple(map(_kind, leaves)), modes, state, casts)
        with self._lock:
            found = self._calls.get(key)
            if found is None:
                graph = export_call(self.module, args, kwargs, training=training)
                found = self._calls[key] = _Call(graph, self._mesh, self._options, training)
        return found


def compile(module: torch.nn.Module, mesh: Mapping[str, int] | None = None, **options: Any) -> CompiledModule:
    """A module that runs as a plan for a mesh, on virtual ranks: threads of this process.

    Call it as you would call the module. Autograd works through it. It shares its parameters with `module`, so optimizers work too. If a rank's
    piece of a weight or argument is contiguous in PyTorch's memory, the rank reads it there; other pieces are copied in each call. Buffers that
    the module changes, such as running statistics, are updated. Results are new tensors, even if the module returns views.

    :param mesh: sizes of the axes by name, the outermost axis first: ``{"dp": 2, "tp": 4}``; None: one device
    :param options: those of :func:`shardwise.compile`
    """
    return CompiledModule(module, mesh, options)


def _kind(leaf: Any) -> Any:
    """The properties of an argument that a plan depends on."""
    if isinstance(leaf, torch.Tensor):
        return (leaf.shape, leaf.dtype, leaf.requires_grad)
    return (type(leaf), leaf)  # of numbers, texts and None: arguments that cannot be hashed raise here


class _Call:
    """A plan for calls of one kind."""

    def __init__(self, graph: TorchGraph, mesh: Mapping[str, int] | None, options: Mapping[str, Any], training: bool) -> None:
        self.graph = graph
        self.training = training
        entries = ["forward", "backward"] if training else ["infer"]
        self.plan = compile_graph(graph, mesh, **{"entries": entries, **options})
        self.executor: Executor = self.plan.executor()
        names = [row["name"] for row in self.plan.ports]
        self.inputs = {row["name"]: [names[i] for i in row["inputs"]] for row in self.plan.entries}
        self.outputs = [names[i] for i in self.plan.entries[0]["outputs"]]
        self.tangents = set(graph.tangents)

    def run(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        arguments = self.graph.arguments(*args, **kwargs)
        values = self.graph.state() | arguments
        if self.training:
            made = _Function.apply(self, list(values), *values.values())
        else:
            made = self.forward(values, self.draw_seed(), None)
        outputs = dict(zip(self.outputs, made, strict=True))
        self.graph.apply_updates(outputs, arguments)
        return self.graph.results(outputs, args, kwargs)

    def draw_seed(self) -> torch.Tensor:
        """A seed from PyTorch's generator, if the plan draws random numbers: after torch.manual_seed(), runs draw the same numbers again."""
        if all(SEED not in names for names in self.inputs.values()):
            return torch.zeros(2, dtype=torch.int64)
        return torch.stack((torch.randint(2**62, ()), torch.zeros((), dtype=torch.int64)))

    def forward(self, values: Mapping[str, torch.Tensor], seed: torch.Tensor, session: Session | None) -> list[torch.Tensor | None]:
        entry = "forward" if self.training else "infer"
        return self._run(entry, values, seed, session, self.outputs)

    def backward(self, values: Mapping[str, torch.Tensor], seed: torch.Tensor, session: Session,
                 gradients: Sequence[str]) -> list[torch.Tensor | None]:
        return self._run("backward", values, seed, session, gradients)

    def _run(self, entry: str, values: Mapping[str, torch.Tensor], seed: torch.Tensor, session: Session | None,
             wanted: Sequence[str]) -> list[torch.Tensor | None]:
        inputs = {name: seed if name == SEED else values[name] for name in self.inputs[entry]}
        results = self.executor.run(inputs, entry, session=session)
        return [None if results.get(name) is None else as_torch(results[name]) for name in wanted]


class _Function(torch.autograd.Function):
    """The forward and backward entries of a plan, as a function that autograd can differentiate."""

    @staticmethod
    def forward(ctx: Any, call: _Call, names: list[str], *tensors: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        values = dict(zip(names, tensors, strict=True))
        ctx.call, ctx.names, ctx.seed, ctx.session = call, names, call.draw_seed(), call.executor.session()
        made = call.forward(values, ctx.seed, ctx.session)
        needed = [name for name in call.inputs["backward"] if name in values]
        changed = {name.removeprefix("update.") for name in call.outputs}
        ctx.save_for_backward(*(values[name].clone() if name in changed else values[name] for name in needed))
        ctx.saved_names = needed
        ctx.mark_non_differentiable(*(t for name, t in zip(call.outputs, made, strict=True) if t is not None and _tangent_of(name) not in call.tangents))
        return tuple(made)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *given: torch.Tensor) -> tuple[Any, ...]:
        call = ctx.call
        values = dict(zip(ctx.saved_names, ctx.saved_tensors, strict=True))
        values |= {_tangent_of(name): tangent for name, tangent in zip(call.outputs, given, strict=True)}
        gradients = call.backward(values, ctx.seed, ctx.session, [_gradient_of(name) for name in ctx.names])
        return (None, None, *gradients)


def _tangent_of(output: str) -> str:
    return "tangent.0" if output == "output" else "tangent." + output.removeprefix("output.")


def _gradient_of(port: str) -> str:
    return "grad." + port.removeprefix("param.")
