"""Training from nothing: a network of two layers with its loss, gradients and SGD updates is built by calls, planned for a mesh and run.

The executor keeps the parameters, and steps update them in place. Prints the loss, which falls.
"""
import random

import shardwise as sw

BATCH, INPUTS, HIDDEN, OUTPUTS, RATE, STEPS = 32, 16, 64, 8, 0.5, 30


def build() -> sw.Graph:
    """loss = mean((relu(x w1) w2 - target)²), and its gradients by hand."""
    graph = sw.Graph()
    w1 = graph.parameter("w1", (INPUTS, HIDDEN), state=True)
    w2 = graph.parameter("w2", (HIDDEN, OUTPUTS), state=True)
    x = graph.input("x", (BATCH, INPUTS))
    target = graph.input("target", (BATCH, OUTPUTS))
    with graph.module("mlp"):
        hidden = (x @ w1).relu()
        error = hidden @ w2 - target
    graph.result((error * error).mean(), "loss")
    with graph.backward():
        d_output = error * (2.0 / (BATCH * OUTPUTS))
        d_w2 = hidden.T @ d_output
        d_w1 = x.T @ (d_output @ w2.T).threshold_backward(hidden, 0)
        graph.update(w1, w1 - d_w1 * RATE)
        graph.update(w2, w2 - d_w2 * RATE)
    return graph


def matrix(rows: int, columns: int, scale: float, seed: int) -> list[list[float]]:
    numbers = random.Random(seed)
    return [[numbers.uniform(-scale, scale) for _ in range(columns)] for _ in range(rows)]


def main() -> None:
    plan = sw.compile(build(), mesh={"dp": 2, "tp": 2}, progress=True)
    print(plan)
    with plan.executor() as executor:
        executor.state.update({"w1": matrix(INPUTS, HIDDEN, 0.3, 1), "w2": matrix(HIDDEN, OUTPUTS, 0.2, 2)})
        batch = {"x": matrix(BATCH, INPUTS, 1.0, 3), "target": matrix(BATCH, OUTPUTS, 1.0, 4)}
        losses = [executor.run(batch)["loss"].item() for _ in range(STEPS)]
    print("loss", " ".join(f"{loss:.4f}" for loss in losses))
    assert all(after < before for before, after in zip(losses, losses[1:])), "the loss does not fall"


if __name__ == "__main__":
    main()
