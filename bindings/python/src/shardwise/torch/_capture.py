"""The joint forward and backward graph of a module, as AOTAutograd captures it."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..errors import FailedPrecondition, InvalidArgument, Unimplemented

# Operations that the library has kernels and sharding rules for, so that they stay whole; everything else becomes what Inductor would compile.
KEPT = ("full_like", "empty_like", "threshold_backward", "native_layer_norm", "native_layer_norm_backward", "embedding_dense_backward",
        "_softmax", "_softmax_backward_data", "stack")


@dataclasses.dataclass
class Capture:
    """A joint graph, and how its flat inputs and outputs belong to the module's arguments and results."""

    joint: torch.fx.GraphModule
    leaves: list[Any]
    """The arguments; tensors without their values."""
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec
    module_names: dict[str, str]
    """By Dynamo's key of a module: its qualified name."""


def capture(module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, training: bool) -> Capture:
    """Traces the module at these arguments, without running it.

    :raises Unimplemented: Dynamo cannot trace it as one graph
    """
    leaves, spec = pytree.tree_flatten((args, dict(kwargs)))
    leaves = [leaf.detach().to("meta") if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    devices = {tensor.device.type for tensor in tensors_of(module, args, dict(kwargs))}
    if unknown := sorted(devices - {"cpu", "meta"}):
        raise InvalidArgument(f"a tensor is on the device {unknown[0]}: plans are made of tensors on the CPU, or without values (meta)")
    if "meta" in devices:
        module, args, kwargs = _without_values(module, args, kwargs)
    from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

    trace, differentiate = _tracers()
    with contextlib.ExitStack() as stack, torch.set_grad_enabled(training):
        flat = _flat_module(trace, module, args, kwargs)
        try:
            exported = differentiate(stack, flat, args, dict(kwargs), decompositions=decompositions())
        except (DataDependentOutputException, DynamicOutputShapeException) as error:
            raise Unimplemented(f"{type(module).__name__} cannot be traced as one graph: a shape or a number depends on the values of "
                                f"tensors, in {error}") from None
        joint = exported.graph_module
        joint.graph.eliminate_dead_code()
    names = {str(id(part)): name for name, part in module.named_modules()}
    return Capture(joint, leaves, spec, exported.out_spec, names)


def _without_values(module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Copies with fake tensors on the CPU in place of all tensors, so that PyTorch chooses the operations that it chooses for the CPU."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    fakes: dict[int, Any] = {}  # what deepcopy takes in place of a tensor, by the tensor's id
    mode = FakeTensorMode()
    for tensor in tensors_of(module, args, dict(kwargs)):
        with mode:
            fake = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu", requires_grad=tensor.requires_grad)
        fakes[id(tensor)] = torch.nn.Parameter(fake, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else fake
    return copy.deepcopy((module, args, dict(kwargs)), fakes)


def _tracers() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions of PyTorch that trace a module, and that make the joint graph from the trace."""
    try:
        from torch._dynamo.functional_export import dynamo_graph_capture_for_export
        from torch._functorch.aot_autograd import aot_export_joint_with_descriptors
    except ImportError:
        raise FailedPrecondition(f"PyTorch {torch.__version__} is too old to export from: 2.10 is needed") from None
    return dynamo_graph_capture_for_export, aot_export_joint_with_descriptors


def _flat_module(trace: Callable[..., Any], module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> torch.fx.GraphModule:
    """The module as one graph of torch functions, whose nodes know their modules and checkpoints."""
    # Sizes that differ between calls make other graphs, not symbols.
    with warnings.catch_warnings(), torch._dynamo.config.patch(automatic_dynamic_shapes=False, capture_scalar_outputs=False):
        warnings.filterwarnings("ignore", message=".*side effects")  # on Python's objects; the documentation says that they happen once
        try:
            graph: torch.fx.GraphModule = trace(module)(*args, **kwargs)
        except torch._dynamo.exc.TorchDynamoException as error:
            raise Unimplemented(f"{type(module).__name__} cannot be traced as one graph: {error}") from None
    _separate_results(graph)
    return graph


def _separate_results(graph: torch.fx.GraphModule) -> None:
    """Makes each result a copy. Otherwise AOTAutograd would make a result that is a view from its base tensor, outside of the graph."""
    output = graph.graph.output_node()
    with graph.graph.inserting_before(output):
        def copy(node: torch.fx.Node) -> torch.fx.Node:
            value = node.meta.get("example_value", node.meta.get("val"))
            if value is not None and not isinstance(value, torch.Tensor):
                return node
            made = graph.graph.call_function(torch.clone, (node,))
            made.meta = {key: node.meta[key] for key in ("nn_module_stack", "stack_trace") if key in node.meta}
            return made

        output.args = torch.fx.map_arg(output.args, copy)
    graph.recompile()


def tensors_of(module: torch.nn.Module, *arguments: Any) -> Iterator[torch.Tensor]:
    """Parameters, buffers, and tensors among the arguments."""
    yield from module.parameters()
    yield from module.buffers()
    yield from (leaf for leaf in pytree.tree_leaves(arguments) if isinstance(leaf, torch.Tensor))


def decompositions() -> dict[Any, Any]:
    """Inductor's decompositions, without those of operations that the library has."""
    import torch._inductor.lowering  # decompositions of pooling use it, and do not import it
    from torch._inductor.decomposition import select_decomp_table

    kept = {getattr(torch.ops.aten, name) for name in KEPT}
    table = {op: made for op, made in select_decomp_table().items() if getattr(op, "overloadpacket", op) not in kept}
    table[torch.ops.aten.addmm.default] = _addmm
    return table


def _addmm(bias: torch.Tensor, left: torch.Tensor, right: torch.Tensor, beta: float = 1, alpha: float = 1) -> Any:
    """Replaces the operation by a product and a sum, because the library's sharding rules are those of the product."""
    if beta != 1 or alpha != 1:
        return NotImplemented
    return torch.add(torch.mm(left, right), bias)
