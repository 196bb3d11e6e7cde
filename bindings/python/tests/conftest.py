"""What tests share: graphs, values, the folders of the repository."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import shardwise as sw

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = ROOT / "tests/data"
MESH = {"dp": 2, "tp": 4}


def mlp(rows: int = 64, width: int = 128, hidden: int = 512) -> sw.Graph:
    """y = relu(x w1) w2, and the gradients of w1 and w2."""
    graph = sw.Graph()
    w1, w2 = graph.parameter("w1", (width, hidden)), graph.parameter("w2", (hidden, width))
    x, dy = graph.input("x", (rows, width)), graph.tangent((rows, width))
    a = (x @ w1).relu()
    y = a @ w2
    with graph.backward():
        dw2 = a.T @ dy
        dw1 = x.T @ (dy @ w2.T).threshold_backward(a, 0)
    graph.result(y)
    graph.gradient(w1, dw1)
    graph.gradient(w2, dw2)
    return graph


def mlp_values(rows: int = 64, width: int = 128, hidden: int = 512) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    shapes = {"w1": (width, hidden), "w2": (hidden, width), "x": (rows, width), "tangent.0": (rows, width)}
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def mlp_expected(v: dict[str, Any]) -> dict[str, Any]:
    x, w1, w2, dy = (v[n].astype(np.float64) for n in ("x", "w1", "w2", "tangent.0"))
    a = np.maximum(x @ w1, 0)
    return {"output": a @ w2, "grad.w1": x.T @ ((dy @ w2.T) * (a > 0)), "grad.w2": a.T @ dy}


@pytest.fixture(scope="session")
def graph() -> sw.Graph:
    return mlp()


@pytest.fixture(scope="session")
def plan(graph: sw.Graph) -> sw.Plan:
    return sw.compile(graph, MESH)


@pytest.fixture(scope="session")
def executor(plan: sw.Plan) -> sw.Executor:
    return plan.executor()


def run_on_one_rank(build: Any, **values: Any) -> Any:
    """The result of a small graph: `build` gets an input for each array and returns a node."""
    graph = sw.Graph()
    inputs = {name: graph.input(name, np.shape(value), np.asarray(value).dtype) for name, value in values.items()}
    graph.result(build(**inputs), "y")
    return sw.compile(graph).executor().run(values)["y"].numpy()


@pytest.fixture(scope="session")
def prefix() -> str:
    """Where the C library is installed that this package was built with: the test's driver says it."""
    import os

    found = os.environ.get("SHARDWISE_PREFIX")
    if not found:
        pytest.skip("SHARDWISE_PREFIX does not say where the C library is installed")
    return found
