"""shardwise.stablehlo with programs that the real JAX exports, as text and as bytecode."""

import pathlib
import re

import jax
import jax.numpy as jnp
import pytest
import shardwise as sw
import shardwise.stablehlo
from jax import export
from jax_models import models
from test_jax import FUNCTIONS, X

MODELS = models()


def exported(fn, *args, bytecode=True):
    made = export.export(jax.jit(fn))(*args)
    return made.mlir_module_serialized if bytecode else made.mlir_module()


def run(graph, args, mesh=None):
    """The results in the program's order."""
    values = dict(zip(graph.argument_ports, map(jnp.asarray, jax.tree.leaves(args)), strict=True))
    results = sw.compile(graph, mesh).executor().run(values)
    return [jax.dlpack.from_dlpack(results[port]) for port in graph.result_ports]


@pytest.mark.parametrize("bytecode", [False, True], ids=["text", "bytecode"])
@pytest.mark.parametrize("name", MODELS)
def test_losses_and_gradients_are_jaxs(name, bytecode):
    loss, args = MODELS[name]
    fn = jax.value_and_grad(loss)
    graph = sw.stablehlo.load(exported(fn, *args, bytecode=bytecode), parameters="params", gradients="result[1]")
    assert {port.partition(".")[0] for port in graph.result_ports[1:]} == {"grad"}
    for ours, theirs in zip(run(graph, args, {"dp": 2, "tp": 4}), jax.tree.leaves(fn(*args)), strict=True):
        assert ours.shape == theirs.shape and float(jnp.abs(ours - theirs).max()) <= 2e-5 * float(jnp.abs(theirs).max())


# In StableHLO a cumulative sum is a reduction over windows.
OURS = {**FUNCTIONS, "reductions": lambda x: (x.sum(0), x.max(), x.min(1), x.mean(), x.astype(jnp.int32).max(0), (x > 0).all(1), (x > 1).any())}


@pytest.mark.parametrize("name", OURS)
def test_operations(name):
    expected = jax.tree.leaves(OURS[name](X))
    for i, (ours, theirs) in enumerate(zip(run(sw.stablehlo.load(exported(OURS[name], X)), X), expected, strict=True)):
        theirs = jnp.asarray(theirs)
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, i
        assert jnp.allclose(ours, theirs, rtol=1e-5, atol=1e-6), i


@pytest.mark.parametrize("dtype", [jnp.float8_e4m3fn, jnp.float8_e5m2])
def test_float8_goes_in_is_cast_and_comes_out(dtype):
    def fn(x, w):
        return x.astype(dtype), w.astype(jnp.float32) * 2, w.T

    args = X * 100, (X / 3).astype(dtype)
    for ours, theirs in zip(run(sw.stablehlo.load(exported(fn, *args)), args, {"a": 2}), fn(*args), strict=True):
        assert ours.dtype == theirs.dtype and ours.astype(jnp.float32).tolist() == theirs.astype(jnp.float32).tolist()


def test_a_graph_has_roles_names_modules_and_the_backward_pass():
    loss, args = MODELS["decoder"]
    text = str(sw.stablehlo.load(exported(jax.value_and_grad(loss), *args, bytecode=False), parameters="params", gradients="result[1]"))
    for part in ("input param.blocks.0.norm1.bias:", "input input.tokens:", "grad.blocks.1.down =", "phase=backward", 'module="attention"'):
        assert part in text, part


def test_parameters_by_position_and_programs_without_names():
    program = """
func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}"""
    graph = sw.stablehlo.load(program, parameters=[1])
    a, b = jnp.ones((4, 8)), jnp.ones((8, 2))
    assert graph.argument_ports[1].startswith("param.") and graph.result_ports == ["output"]
    assert run(graph, [a, b], {"tp": 2})[0].tolist() == (a @ b).tolist()


@pytest.mark.parametrize(("dtype", "element", "values"), [
    ("f32", jnp.float32, [1.5, -2.0, 3.0]), ("bf16", jnp.bfloat16, [1.5, 1.5, 1.5]), ("f8E4M3FN", jnp.float8_e4m3fn, [1.5, 1.5, 1.5]),
    ("f8E5M2", jnp.float8_e5m2, [1.5, 1.5, 1.5]), ("f16", jnp.float16, [1.5, -2.0, 3.0]),
    ("i64", jnp.int32, [1, -2, 3]), ("i1", jnp.bool_, [True, False, True]),
])
def test_constants(dtype, element, values):
    text = ", ".join(str(value).lower() for value in values)
    program = f"""
func.func @main() -> tensor<3x{dtype}> {{
  %0 = stablehlo.constant dense<[{text}]> : tensor<3x{dtype}>
  return %0 : tensor<3x{dtype}>
}}"""
    (made,) = run(sw.stablehlo.load(program), [])
    assert made.astype(element).tolist() == values


@pytest.mark.parametrize(("source", "error", "message"), [
    ("no program", sw.InvalidArgument, "this is no StableHLO"),
    (b"ML\xefR\rStabl and no more", sw.InvalidArgument, "this is no StableHLO"),
    ("func.func @other() { return }", sw.InvalidArgument, "no function 'main', but other"),
    ("func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }", sw.Unimplemented, "only tensors of static shape"),
    (exported(lambda x: jnp.sort(x) + jnp.linalg.cholesky(x @ x.T)[0, 0], X), sw.Unimplemented,
     r"2 operations that are not known: stablehlo.custom_call \"lapack_\w+\" \(1\), stablehlo.sort \(1\)"),
    ("""func.func @main(%a: tensor<2xf32>) -> tensor<2xi1> {
        %0 = stablehlo.compare LT, %a, %a, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
        return %0 : tensor<2xi1>
     }""", sw.Unimplemented, "compare by the total order"),
    ("""func.func @main() -> tensor<2xbf16> {
        %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xbf16>
        return %0 : tensor<2xbf16>
     }""", sw.Unimplemented, "constants in bf16 with several values"),
    (exported(lambda x: x.at[1].set(0.0), X), sw.Unimplemented, "scatter"),
    (exported(lambda x: jnp.argmax(x, 1), X), sw.Unimplemented, "reduce by other than"),
    (exported(lambda x: x.cumsum(1), X), sw.Unimplemented, "reduce_window"),
])
def test_what_is_not_there_says_so(source, error, message):
    with pytest.raises(error, match=message):
        sw.stablehlo.load(source)


def test_gradients_of_no_parameter_are_refused():
    loss, args = MODELS["mlp"]
    with pytest.raises(sw.InvalidArgument, match=r"result result.1.0.0 would be the gradient of a parameter '0.0', which there is not"):
        sw.stablehlo.load(exported(jax.value_and_grad(loss), *args), gradients="result[1]")


def test_the_blocks_of_the_document_run():
    document = pathlib.Path(__file__).resolve().parents[2] / "bindings/python/STABLEHLO.md"
    found = re.findall(r"^```python\n(.*?)^```$", document.read_text(), re.M | re.S)
    assert len(found) == 1
    exec(compile(found[0], str(document), "exec"), {})
