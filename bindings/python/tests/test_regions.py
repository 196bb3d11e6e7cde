"""Manual regions with bodies in Python."""

import numpy as np
import pytest

import shardwise as sw

X = np.arange(32, dtype=np.float32).reshape(8, 4)


def region(mesh, **attributes):
    graph = sw.Graph()
    x = graph.input("x", (8, 4))
    y = sw.ops.local_map(x, **{"region": "body", "in_placements": "S(0)", "out_placements": "S(0)", "result_types": "f32[8,4]", **attributes})
    graph.result(y * 2.0, "y")
    return sw.compile(graph, mesh)


def test_each_rank_runs_the_body_on_its_piece():
    calls = []

    def body(call, piece):
        calls.append((call.rank, call.coordinates, call.mesh, piece.shape, call.outputs))
        return np.asarray(piece) + call.rank

    executor = region({"a": 4}).executor(regions={"body": body})
    y = executor.run([X])["y"].numpy()
    assert np.array_equal(y, 2 * (X + np.arange(8)[:, None] // 2))
    assert sorted(calls) == [(r, (r,), (4,), (2, 4), [((2, 4), sw.DType.f32)]) for r in range(4)]


class Broken(Exception):
    pass


def test_what_a_body_raises_comes_back_as_itself():
    fail = [True]

    def body(call, piece):
        if fail[0] and call.rank == 2:
            raise Broken("rank 2")
        return piece

    executor = region({"a": 4}).executor(regions={"body": body})
    for _ in range(3):
        with pytest.raises(Broken, match="rank 2"):
            executor.run([X])
    fail[0] = False
    assert np.array_equal(executor.run([X])["y"].numpy(), 2 * X)


@pytest.mark.parametrize(("body", "error", "message"), [
    (lambda call, piece: np.zeros((3, 4), np.float32), ValueError, r"shape \(3, 4\), not \(2, 4\)"),
    (lambda call, piece: np.zeros((2, 4)), TypeError, "expected f32, not f64"),
    (lambda call: None, TypeError, "positional argument"),
    (lambda call, piece: None, TypeError, "NoneType"),
])
def test_results_that_do_not_fit_are_refused(body, error, message):
    with pytest.raises(error, match=message):
        region({"a": 4}).executor(regions={"body": body}).run([X])


def test_bodies_exchange_data():
    """Rows go to the member that their first number names, are doubled there, and come back."""
    x = np.arange(64, dtype=np.float32).reshape(16, 4)
    x[:, 0] = [0, 3, 1, 1, 1, 1, 1, 1, 2, 0, 2, 3, 3, 3, 3, 3]
    seen = {}

    def body(call, piece):
        group, tp = call.groups
        seen[call.rank] = group.size, group.member, tp.size, np.asarray(tp.all_gather([call.rank])).tolist()
        rows = np.asarray(piece)
        order = np.argsort(rows[:, 0], kind="stable")
        sends = np.bincount(rows[:, 0].astype(int), minlength=group.size)
        expects = np.asarray(group.all_to_all(sends))
        assert expects.dtype == np.int64
        came = np.asarray(group.all_to_all_v(rows[order], sends, expects))
        assert (came[:, 0] == group.member).all()
        assert np.asarray(group.all_reduce([len(came)])).tolist() == [16]
        assert np.asarray(group.reduce_scatter(sends)).tolist() == [len(came)]
        assert group.all_reduce(np.float32(call.rank), "max").item() == 3
        result = np.empty_like(rows)
        result[order] = group.all_to_all_v(2 * came, expects, sends)
        return result

    graph = sw.Graph()
    y = sw.ops.local_map(graph.input("x", (16, 4)), region="body", in_placements="S(0)S(0)", out_placements="S(0)S(0)",
                         result_types="f32[16,4]", groups="dp,tp; tp")
    graph.result(y, "y")
    executor = sw.compile(graph, {"dp": 2, "tp": 2}).executor(regions={"body": body})
    assert np.array_equal(executor.run([x])["y"].numpy(), 2 * x)
    assert seen == {r: (4, r, 2, [r - r % 2, r - r % 2 + 1]) for r in range(4)}


def test_what_ends_an_exchange():
    mode = ["differ"]
    kept = []

    def body(call, piece):
        (group,) = call.groups
        if mode[0] == "raise" and call.rank == 1:
            raise Broken("rank 1")
        if mode[0] == "sizes":
            group.all_to_all(np.zeros(3))
        kept.append(group)
        return group.all_reduce(piece) if mode[0] == "differ" and call.rank else group.all_to_all(piece)

    executor = region({"a": 2}, groups="a").executor(regions={"body": body})
    with pytest.raises(sw.Error, match="the ranks diverged: rank 0 dispatched all_to_all"):
        executor.run([X])
    mode[0] = "raise"
    with pytest.raises(Broken, match="rank 1"):
        executor.run([X])
    mode[0] = "sizes"
    with pytest.raises(ValueError, match="not cut evenly by 2 members"):
        executor.run([X])
    mode[0] = "none"
    executor.run([X])
    with pytest.raises(sw.InvalidArgument, match="group is NULL"):  # it was lent for the call
        kept[0].all_reduce([1])


def test_a_region_needs_a_body():
    with pytest.raises(sw.Unimplemented, match="body"):
        region({"a": 4}).executor()


def test_pieces_may_be_kept():
    kept = []
    executor = region({"a": 4}).executor(regions={"body": lambda call, piece: kept.append((call.rank, np.asarray(piece))) or piece})
    executor.run([X])
    executor.close()
    for rank, piece in kept:
        assert np.array_equal(piece, X[2 * rank:2 * rank + 2])


COLUMNS_OR_ROWS = {"region": "columns | rows", "in_placements": "S(1) | S(0)", "out_placements": "S(1) | S(0)", "flops": "1e9 | 1e12"}


@pytest.mark.parametrize(("ranks", "picked", "shape"), [(4, "columns", (8, 1)), (8, "rows", (1, 4))])
def test_the_planner_picks_one_of_several_bodies(ranks, picked, shape):
    plan = region({"a": ranks}, **COLUMNS_OR_ROWS)
    assert f"local_map {picked}" in [node["op"] for node in plan.placements]
    shapes = set()

    def body(call, piece):
        shapes.add(piece.shape)
        return np.asarray(piece) + 1

    with plan.executor(regions={picked: body}) as executor:  # the other body need not be there
        assert np.array_equal(executor.run([X])["y"].numpy(), 2 * (X + 1))
    assert shapes == {shape}


def test_alternatives_must_agree():
    with pytest.raises(sw.InvalidArgument, match="flops states 3 alternatives"):
        region({"a": 4}, **{**COLUMNS_OR_ROWS, "flops": "1 | 2 | 3"})
