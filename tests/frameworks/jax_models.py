"""Losses of a multilayer perceptron, a decoder and a mixer in plain JAX, and arguments for them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


class Numbers:
    """Random tensors, always the same."""

    def __init__(self) -> None:
        self.key = jax.random.PRNGKey(0)

    def __call__(self, *shape: int) -> jax.Array:
        self.key, key = jax.random.split(self.key)
        return jax.random.normal(key, shape) * 0.2

    def norm(self, width: int) -> dict[str, jax.Array]:
        return {"scale": 1 + self(width), "bias": self(width)}


def norm(x: jax.Array, p: dict[str, jax.Array]) -> jax.Array:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def mlp(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return jnp.mean((x @ w + b - y) ** 2)


def attention(x: jax.Array, p: dict[str, jax.Array]) -> jax.Array:
    q, k, v = (jnp.einsum("bsd,dhk->bshk", x, p[name]) for name in ("q", "k", "v"))
    scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / jnp.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return jnp.einsum("bqhk,hkd->bqd", jnp.einsum("bhqs,bshk->bqhk", weights, v), p["o"])


def decoder(params: Any, tokens: jax.Array) -> jax.Array:
    x = params["embed"][tokens[:, :-1]] + params["positions"]

    @jax.checkpoint
    def block(x: jax.Array, p: Any) -> jax.Array:
        with jax.named_scope("attention"):
            x = x + attention(norm(x, p["norm1"]), p)
        with jax.named_scope("mlp"):
            return x + jax.nn.gelu(norm(x, p["norm2"]) @ p["up"]) @ p["down"]

    for p in params["blocks"]:
        x = block(x, p)
    chances = jax.nn.log_softmax(norm(x, params["norm"]) @ params["embed"].T)
    return -jnp.mean(jnp.take_along_axis(chances, tokens[:, 1:, None], -1))


def mixer(params: Any, images: jax.Array, labels: jax.Array) -> jax.Array:
    batch, height, width, channels = images.shape
    patches = images.reshape(batch, height // 4, 4, width // 4, 4, channels).transpose(0, 1, 3, 2, 4, 5)
    x = patches.reshape(batch, height * width // 16, 16 * channels) @ params["stem"]
    for p in params["blocks"]:
        tokens = norm(x, p["norm1"]).swapaxes(1, 2)
        x = x + (jax.nn.gelu(tokens @ p["tokens1"]) @ p["tokens2"]).swapaxes(1, 2)
        x = x + jax.nn.gelu(norm(x, p["norm2"]) @ p["channels1"]) @ p["channels2"]
    logits = x.mean(1) @ params["head"]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - (logits * jax.nn.one_hot(labels, logits.shape[-1])).sum(-1))


def models() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """By name: the loss and its arguments."""
    r, key = Numbers(), jax.random.PRNGKey(1)
    layers = [(r(16, 32), r(32)), (r(32, 32), r(32)), (r(32, 8), r(8))]
    blocks = [{"norm1": r.norm(32), "norm2": r.norm(32), "q": r(32, 4, 8), "k": r(32, 4, 8), "v": r(32, 4, 8), "o": r(4, 8, 32), "up": r(32, 64),
               "down": r(64, 32)} for _ in range(2)]
    mixers = [{"norm1": r.norm(32), "norm2": r.norm(32), "tokens1": r(16, 32), "tokens2": r(32, 16), "channels1": r(32, 64),
               "channels2": r(64, 32)} for _ in range(2)]
    return {
        "mlp": (mlp, (layers, r(16, 16), r(16, 8))),
        "decoder": (decoder, ({"embed": r(64, 32), "positions": r(16, 32), "norm": r.norm(32), "blocks": blocks},
                              jax.random.randint(key, (8, 17), 0, 64))),
        "mixer": (mixer, ({"stem": r(48, 32), "head": r(32, 8), "blocks": mixers}, r(8, 16, 16, 3), jax.random.randint(key, (8,), 0, 8))),
    }
