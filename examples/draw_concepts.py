#!/usr/bin/env python3
"""Draws the pictures of examples/guide/concepts.md from what the library does: examples/guide/*.svg.

usage: draw_concepts.py FOLDER      needs the Python package

Coordinates of ranks, pieces of tensors and partial sums are those that the ranks of a run see; strategies, entries and times are those that
plans and explanations tell.
"""
import json
import pathlib
import sys
import tempfile

import shardwise as sw
from drawing import Drawing

MESH = {"dp": 2, "tp": 4}
BLUE, BLUE_EDGE, GREEN, GREEN_EDGE, ORANGE, ORANGE_EDGE = "#dfe9f7", "#3b6ea8", "#e3f0e6", "#4c8a5a", "#ffe3c2", "#cb6e17"
PALE, EDGE = "#f4f5f7", "#9aa5b1"


def numbers(rows, columns, first=0):
    return [[float(first + r * columns + c) for c in range(columns)] for r in range(rows)]


# ---- Mesh: the coordinates that each rank is told ----------------------------------------------------------


def coordinates():
    graph, seen = sw.Graph(), {}
    x = graph.input("x", (8,))
    graph.result(sw.ops.local_map(x, region="look", in_placements="RR", out_placements="RR", result_types="f32[8]"))

    def look(call, piece):
        seen[call.rank] = call.coordinates
        return piece

    sw.compile(graph, MESH).executor(regions={"look": look}).run([[0.0] * 8])
    return seen


def mesh():
    d = Drawing()
    d.text(16, 26, 'The mesh {"dp": 2, "tp": 4}: 8 ranks, 2 rows of 4', 15, "start", "bold")
    d.box(60, 74, 640, 68, "#ffffff", ORANGE_EDGE, 10)
    d.box(76, 58, 128, 190, "none", BLUE_EDGE, 10)
    seen = coordinates()
    for rank in sorted(seen):
        at = dict(zip(MESH, seen[rank], strict=True))
        x, y = 84 + 160 * at["tp"], 84 + 96 * at["dp"]
        d.box(x, y, 112, 48, GREEN, GREEN_EDGE)
        d.text(x + 56, y + 20, f"rank {rank}", 14, weight="bold")
        d.code(x + 56, y + 38, " ".join(f"{axis}={at[axis]}" for axis in MESH), size=12)
    d.text(712, 112, "a group", 12, "start", fill="#8d4a0c")
    d.text(712, 128, "along tp", 12, "start", fill="#8d4a0c")
    d.text(140, 266, "a group along dp", 12, fill="#2b5480")
    return d.svg(790, 280)


# ---- Placement: the pieces that the ranks get ----------------------------------------------------------------


def pieces(layout, size=8):
    graph = sw.Graph()
    w = graph.parameter("w", (size, size))
    graph.result(w.relu())
    executor = sw.compile(graph, MESH, pins={"param.w": layout}).executor()
    return [{number for row in piece.tolist() for number in row} for piece in executor.shard("w", numbers(size, size)).local()]


def placement():
    d, size, cell = Drawing(), 8, 5
    d.text(16, 26, "A tensor [8, 8] on the mesh dp=2, tp=4: what each of the 8 ranks holds", 15, "start", "bold")
    captions = {"RR": "whole on every rank", "S(0)R": "dp cuts the rows", "RS(1)": "tp cuts the columns", "S(0)S(1)": "dp cuts rows, tp cuts columns",
                "S(1)S(0)": "dp cuts columns, tp cuts rows", "S(0)S(0)": "both cut the rows, dp first"}
    for i, (layout, caption) in enumerate(captions.items()):
        left, top = 24 + 250 * (i % 3), 52 + 150 * (i // 3)
        d.code(left, top + 10, layout, size=14, anchor="start", weight="bold")
        d.text(left, top + 28, caption, 12, "start")
        for rank, piece in enumerate(pieces(layout, size)):
            x, y = left + 50 * (rank % 4), top + 40 + 50 * (rank // 4)
            d.box(x, y, size * cell, size * cell, PALE, EDGE, 0)
            rows, columns = [sorted({int(n) // size for n in piece}), sorted({int(n) % size for n in piece})]
            d.box(x + columns[0] * cell, y + rows[0] * cell, len(columns) * cell, len(rows) * cell, "#7fb08c", GREEN_EDGE, 0)
    return d.svg(780, 346)


# ---- Partial: what the ranks hold of a product whose inner dim is cut ---------------------------------------------


def matrix(d, x, y, rows, fill, stroke, cell=34):
    for r, row in enumerate(rows):
        for c, number in enumerate(row):
            d.box(x + c * cell, y + r * cell, cell, cell, fill, stroke, 0)
            d.code(x + c * cell + cell / 2, y + r * cell + cell / 2 + 4, f"{number:g}", size=12)


def partial():
    graph, seen = sw.Graph(), {}
    a, b = graph.input("a", (2, 4)), graph.input("b", (4, 2))
    made = sw.ops.local_map(a @ b, region="look", in_placements="P", out_placements="P", result_types="f32[2,2]")
    graph.result(made, "c")

    def look(call, piece):
        seen[call.rank] = piece.tolist()
        return piece

    plan = sw.compile(graph, {"tp": 2}, inputs={"input.a": "S(1)", "input.b": "S(0)"})
    with plan.executor(regions={"look": look}) as executor:
        values = {"a": numbers(2, 4), "b": numbers(4, 2)}
        whole = executor.run(values)["c"].tolist()
        cut = {name: [piece.tolist() for piece in executor.shard(name, values[name]).local()] for name in values}
    d = Drawing()
    d.text(16, 26, "c = a · b where tp cuts the columns of a and the rows of b: every rank has a part of the sum", 15, "start", "bold")
    for x, words in [(104, "a: S(1)"), (226, "b: S(0)"), (348, "c: P, partial"), (634, "c: R, whole")]:
        d.code(x, 54, words, size=13, weight="bold")
    for rank in sorted(seen):
        y = 72 + 90 * rank
        d.text(16, y + 38, f"rank {rank}", 13, "start", "bold")
        matrix(d, 70, y, cut["a"][rank], BLUE, BLUE_EDGE)
        d.text(166, y + 40, "·", 20)
        matrix(d, 192, y, cut["b"][rank], BLUE, BLUE_EDGE)
        d.text(288, y + 40, "=", 18)
        matrix(d, 314, y, seen[rank], ORANGE, ORANGE_EDGE)
        d.arrow(388, y + 34, 420, 133 + 24 * rank)
        d.arrow(560, 133 + 24 * rank, 594, y + 34)
        matrix(d, 600, y, whole, GREEN, GREEN_EDGE)
    d.pill(490, 145, "all_reduce(sum)")
    return d.svg(700, 252)


# ---- Strategy: the ways to run one product ------------------------------------------------------------------------


def strategy():
    graph = sw.Graph()
    graph.result(graph.input("a", (8192, 8192)) @ graph.parameter("b", (8192, 8192)))
    told = sw.compile(graph, {"tp": 2}).explain("%2").to_json()
    d = Drawing()
    d.text(16, 26, "The strategies of c = a · b on one mesh axis of 2 ranks: what rank 0 reads and makes", 15, "start", "bold")
    for x, words in [(76, "a"), (190, "b"), (314, "c"), (500, "strategy"), (672, "this node computes")]:
        d.text(x, 52, words, 13, weight="bold")
    for i, row in enumerate(sorted(told["strategies"], key=lambda row: (row["compute"], row["strategy"]))):
        operands, result = row["strategy"].removeprefix("(").split(") -> ")
        y = 64 + 74 * i
        for x, layout in zip((46, 160, 284), (*operands.split(", "), result), strict=True):
            part = {"R": (60, 60), "P": (60, 60), "S(0)": (60, 30), "S(1)": (30, 60)}[layout]
            d.box(x, y, 60, 60, PALE, EDGE, 0)
            d.box(x, y, *part, ORANGE if layout == "P" else "#7fb08c", ORANGE_EDGE if layout == "P" else GREEN_EDGE, 0)
            d.code(x + part[0] / 2, y + part[1] / 2 + 4, layout, size=11)
        d.text(133, y + 36, "·", 20)
        d.text(252, y + 36, "=", 18)
        d.code(500, y + 35, row["strategy"].replace("->", "→"), size=13)
        d.text(672, y + 35, f"{row['compute'] / 1000:.2f} ms", 13)
    return d.svg(780, 64 + 74 * len(told["strategies"]) + 6)


# ---- Plan and entries: a small network with its gradients ---------------------------------------------------------


def network():
    graph = sw.Graph()
    w1, w2 = graph.parameter("w1", (4096, 16384)), graph.parameter("w2", (16384, 4096))
    x, dy = graph.input("x", (8192, 4096)), graph.tangent((8192, 4096))
    a = (x @ w1).relu()
    y = a @ w2
    with graph.backward():
        graph.gradient(w2, a.T @ dy)
        graph.gradient(w1, x.T @ (dy @ w2.T).threshold_backward(a, 0))
    graph.result(y, "y")
    return graph


def plan():
    made = sw.compile(network(), MESH, inputs="S(0)R", outputs={"output.y": "S(0)R"})
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        made.trace(path)
        events = json.loads(path.read_text())["traceEvents"]
    queues = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    steps = [e for e in events if e["ph"] == "X"]
    end = max(e["ts"] + e["dur"] for e in steps)
    d = Drawing()
    d.text(16, 26, "A plan as its ranks run it: a step of a network of two layers, forward and backward", 15, "start", "bold")
    scale = 640 / end
    for row, (tid, queue) in enumerate(queues.items()):
        y = 48 + 48 * row
        d.text(96, y + 24, queue, 13, "end", "bold")
        d.box(108, y, 640, 38, "#ffffff", "#e4e7eb", 0)
        for e in (e for e in steps if e["tid"] == tid):
            op, kind = e["name"].split()[0], e["cat"] == "collective"
            width = e["dur"] * scale
            d.box(round(108 + e["ts"] * scale, 1), y + 3, round(width, 1), 32, ORANGE if kind else BLUE, ORANGE_EDGE if kind else BLUE_EDGE, 2)
            if width > 6.6 * len(op):
                d.code(round(108 + (e["ts"] + e["dur"] / 2) * scale, 1), y + 23, op, size=11)
    bottom = 48 + 48 * len(queues)
    d.arrow(108, bottom + 8, 748, bottom + 8)
    d.text(748, bottom + 26, f"{end / 1000:.1f} ms", 12, "end")
    d.text(108, bottom + 26, f"one compute queue, and one for each group that communicates: {', '.join(list(queues.values())[1:])}", 12, "start")
    return d.svg(780, bottom + 40)


def entry():
    made = sw.compile(network(), MESH, entries=["forward", "backward", "infer"])
    d = Drawing()
    d.text(16, 26, "The entries of one plan: what each reads and makes", 15, "start", "bold")
    places = {"infer": 60, "forward": 160, "backward": 260}
    for row in made.entries:
        y = places[row["name"]]
        d.box(300, y, 160, 48, BLUE, BLUE_EDGE)
        d.text(380, y + 22, row["name"], 15, weight="bold")
        d.text(380, y + 39, f"{row['num_steps']} steps", 12)
        read, written = [[made.ports[i]["name"] for i in row[side]] for side in ("inputs", "outputs")]
        d.code(280, y + 28, ", ".join(read), anchor="end", size=12)
        d.arrow(284, y + 24, 300, y + 24)
        d.arrow(460, y + 24, 478, y + 24)
        d.code(484, y + 28, ", ".join(written), anchor="start", size=12)
        for before in row["after"]:
            d.arrow(380, places[made.entries[before]["name"]] + 48, 380, y)
            d.text(390, y - 22, f"the session keeps what {row['name']} needs", 12, "start", fill="#8d4a0c")
    return d.svg(780, 324)


if __name__ == "__main__":
    for picture in (mesh, placement, partial, strategy, plan, entry):
        (pathlib.Path(sys.argv[1]) / f"{picture.__name__}.svg").write_text(picture())
