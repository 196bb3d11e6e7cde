"""A user's program for mypy --strict: what the package's hints must say. It is checked, not run."""

from typing import assert_type

import shardwise as sw

graph = sw.Graph()
x, w = graph.input("x", (4, 8)), graph.parameter("w", (8, 8), "bf16", state=True)
assert_type(x, sw.Node)
assert_type((x @ w) * 2.0 - 1, sw.Node)
assert_type(x[0, 1:], sw.Node)
assert_type(graph.result(x, "y"), sw.Output)
plan = sw.compile(graph, mesh={"dp": 2}, memory="1GiB", progress=lambda progress: progress.elapsed_s > 1.0)
assert_type(plan, sw.Plan)
assert_type(plan.mesh, dict[str, int])
assert_type(plan.what_if(memory="2GiB").after, sw.Plan)
assert_type(plan.pareto(3), sw.Pareto)
assert_type(sw.compare(b"", {"dp": 2}), sw.Recipes)
with plan.executor(world=sw.World.virtual(2)) as executor:
    assert_type(executor.run({"x": [[0.0] * 8] * 4}), sw.Results)
    assert_type(executor.state["w"], sw.Tensor)
    started = executor.start({"x": [[0.0] * 8] * 4})
    assert_type(started, sw.Run)
    assert_type(started.done(), bool)
    assert_type(started.result(timeout=1.0), sw.Results)
    started.add_done_callback(lambda run: run.exception())


async def wait() -> None:
    assert_type(await started, sw.Results)


assert_type(sw.tensor([1, 2]).shape, tuple[int, ...])
assert_type(sw.tensor([1, 2]).dtype, sw.DType)
