"""shardwise.jax with the real JAX."""

import pathlib
import re

import jax
import jax.numpy as jnp
import pytest
import shardwise as sw
import shardwise.jax
from jax_models import models

MODELS = models()


def run(fn, *args, mesh=None, **options):
    graph = sw.jax.export(fn, *args, **options)
    return graph.results(sw.compile(graph, mesh).executor().run(graph.arguments(*args)))


@pytest.mark.parametrize("mesh", [{"dp": 2, "tp": 2}, {"dp": 2, "tp": 4}], ids=["4", "8"])
@pytest.mark.parametrize("name", MODELS)
def test_losses_and_gradients_are_jaxs(name, mesh):
    loss, args = MODELS[name]
    fn = jax.value_and_grad(loss)
    got, expected = run(fn, *args, mesh=mesh), fn(*args)
    assert jax.tree.structure(got) == jax.tree.structure(expected)
    for ours, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert ours.shape == theirs.shape and float(jnp.abs(ours - theirs).max()) <= 2e-5 * float(jnp.abs(theirs).max())


def test_a_graph_has_roles_modules_and_the_backward_pass():
    loss, args = MODELS["decoder"]
    text = str(sw.jax.export(jax.value_and_grad(loss), *args))
    for part in ("input param.blocks.0.norm1.bias:", "input param.embed:", "input input.1:", "grad.blocks.1.down =", "phase=backward",
                 'module="attention"'):
        assert part in text, part
    assert "grad" not in str(sw.jax.export(loss, *args))
    assert "param" not in str(sw.jax.export(loss, *args, parameters=None))


X = jnp.linspace(-2, 2, 24).reshape(4, 6)
INDEX = jnp.array([[0, 5], [1, 1], [2, 3], [4, 0]])
ROWS = jnp.array([3, 0, 1, 3])
FUNCTIONS = {
    "elementwise": lambda x: (jnp.sin(x), jnp.exp(-x), jnp.sign(x), jnp.abs(x), jnp.floor(x), x**3, x**-2.0, 2 / x, 1 - x, jax.nn.sigmoid(x), jnp.log1p(x * x)),
    "powers": lambda x: (jnp.abs(x) ** x, x ** jnp.array([0, 1, 2, 3, -1, -2]), 2.0 ** x, jnp.arctan2(x, x.T.reshape(4, 6))),
    "choices": lambda x: (jnp.where(x > 0, x, 0.5), jnp.maximum(x, x.T.reshape(4, 6)), jnp.minimum(x, 1), jnp.isfinite(x), (x > 0) & ~(x > 1) | (x == 0)),
    "shapes": lambda x: (x[1:3, ::2], jnp.concatenate([x, x]), jnp.pad(x, ((1, 0), (0, 2))), x[::-1], x[:, None, :] + jnp.zeros((4, 3, 6)), x.T),
    "reductions": lambda x: (x.sum(0), x.max(), x.min(1), x.mean(), x.cumsum(1), x.astype(jnp.int32).sum()),
    "products": lambda x: (x @ x.T, jnp.einsum("ij,kj->ikj", x, x), jnp.tensordot(x, x), jnp.vdot(x[0], x[1])),
    "indices": lambda x: (x[ROWS], jnp.take_along_axis(x, INDEX, 1), jnp.arange(6) + x, jnp.eye(4)),
    "constants": lambda x: (3.0, jnp.ones(2), x * jnp.array([1.0, 2, 3, 4, 5, 6])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_primitives(name):
    fn = FUNCTIONS[name]
    got, expected = run(fn, X, parameters=None), fn(X)
    for i, (ours, theirs) in enumerate(zip(got, expected, strict=True)):
        theirs = jnp.asarray(theirs)
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, i
        assert jnp.allclose(ours, theirs, rtol=1e-5, atol=1e-6), i


@pytest.mark.parametrize(("fn", "message"), [
    (lambda x: jnp.sort(x) + jnp.linalg.cholesky(x @ x.T)[0, 0], r"the function has 2 primitives that are not known: cholesky \(1\), sort \(1\)"),
    (lambda x: x.at[1].set(0.0), "scatter"),
    (lambda x: x[:, INDEX[:, 0]], "gather with .* is not supported"),
    (lambda x: x.astype(jnp.int32) // 3, "primitives that are not known: rem|div of i32"),
])
def test_what_is_not_there_says_so(fn, message):
    with pytest.raises(sw.Unimplemented, match=message):
        run(fn, X, parameters=None)


def test_arguments_of_another_kind_are_refused():
    graph = sw.jax.export(lambda p, x: p["w"] * x, {"w": X}, X)
    with pytest.raises(sw.InvalidArgument, match=r"input.1 is float32\[2,6\]; the graph was made with float32\[4,6\]"):
        graph.arguments({"w": X}, X[:2])
    with pytest.raises(sw.InvalidArgument, match="PyTreeDef"):
        graph.arguments(X, X)


def test_the_blocks_of_the_document_run():
    document = pathlib.Path(__file__).resolve().parents[2] / "bindings/python/JAX.md"
    text = document.read_text()
    found = list(re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S))
    assert len(found) == 1 and len(re.findall("^```", text, re.M)) == 2
    names = {}
    exec(compile("\n" * (text[:found[0].start()].count("\n") + 1) + found[0][1], str(document), "exec"), names)
    assert names["gradients"]["w1"].shape == (16, 64)
