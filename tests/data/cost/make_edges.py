"""Samples priced redistributions from exported placement problems, for the unit tests.

Usage: make_edges.py [--rows N] PROBLEM.json.gz ... > edges.csv

The input is in the format `ap-problem-1`: placement problems exported from
meta-pytorch/autoparallel (a54c252) on H100 clusters; nodes with global tensor metadata,
`strat_tables` with the layouts of every strategy, `matrices` of edge costs in µs whose rows are the
consumer's strategies and whose columns are the producer's. The output has one line for each distinct
redistribution that was drawn: the mesh, the global value's bytes and contiguity, both layouts, µs.
Every kind of change that a mesh has is drawn before any is drawn twice.

Two things that the format does not say are put right here:
* an einsum's output is row-major, whatever strides the graph has recorded for it;
* embedding's mask partial is written P like a sum; it is the P of the slots other than the table
  wherever the table is cut by rows, and is written M here.
"""

import argparse
import collections
import gzip
import itertools
import json
import math
import random
import re

ITEM_SIZE = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4}
ITEM_SIZE |= {"int16": 2, "int8": 1, "uint8": 1, "bool": 1, "complex64": 8}

Edge = tuple[str, int, int, str, str]


def layout(spec: str) -> str:
    """'S0,Pavg' -> 'S(0)P(avg)'."""
    return "".join(re.sub(r"^(S|P)(\w+)$", r"\1(\2)", part) for part in spec.split(","))


def masked(specs: list[str]) -> list[str]:
    """Returns the specs of one strategy of embedding (table, indices, output) with M for the mask partial."""
    rows = [part.split(",") for part in specs]
    for row in rows[1:]:
        for dim, part in enumerate(row):
            if part == "P" and rows[0][dim] == "S0":
                row[dim] = "M"
    return [",".join(row) for row in rows]


def strategies(node: dict, tables: list[dict]) -> tuple[list[list[str]], list]:
    """Returns the input specs and the output spec or specs of each strategy."""
    table = tables[node["strats"]]
    if "embedding.default" not in node["target"]:
        return table["in"], table["out"]
    both = [masked([*ins, out]) for ins, out in zip(table["in"], table["out"])]
    return [row[:-1] for row in both], [row[-1] for row in both]


def meta(producer: dict, consumer: dict) -> tuple[int, int, int | None]:
    """Returns bytes, contiguity, and which of the producer's outputs the consumer reads."""
    value, item = producer["val"], None
    if isinstance(value, list):
        item = consumer["args"][1]
        value = value[item]
    want, contiguous = 1, True
    for size, stride in zip(reversed(value["shape"]), reversed(value["stride"])):
        if size != 1:
            contiguous &= stride == want
            want *= size
    if "einsum" in producer["target"]:
        contiguous = True
    return math.prod(value["shape"]) * ITEM_SIZE[value["dtype"]], int(contiguous), item


def edges_of(problem: dict) -> dict[Edge, float]:
    mesh = "x".join(map(str, problem["mesh"]["shape"]))
    nodes, found, done = problem["nodes"], {}, set()
    for node in nodes:
        if "arg_cost" not in node or not node["inputs"]:
            continue
        ins, _ = strategies(node, problem["strat_tables"])
        for slot, (cost, index) in enumerate(zip(node["arg_cost"], node["inputs"])):
            producer = nodes[index]
            size, contiguous, item = meta(producer, node)
            job = (size, contiguous, item, node["strats"], slot, producer["strats"], cost["comm"])
            if job in done:
                continue
            done.add(job)
            _, outs = strategies(producer, problem["strat_tables"])
            matrix = problem["matrices"][cost["comm"]]
            for row, column in itertools.product(range(len(ins)), range(len(outs))):
                source = outs[column] if item is None else outs[column][item]
                us = math.inf if matrix[row][column] is None else matrix[row][column]
                if source is None or ins[row][slot] is None:
                    continue
                edge = (mesh, size, contiguous, layout(source), layout(ins[row][slot]))
                if found.setdefault(edge, us) != us:
                    raise ValueError(f"{edge} costs {found[edge]} and {us}: {node['name']} {slot}")
    return found


def sample(edges: dict[Edge, float], count: int) -> list[Edge]:
    """Draws `count` edges, equally many for each mesh, taking the kinds of change in turn."""
    kinds: dict[str, dict[tuple, list[Edge]]] = collections.defaultdict(
        lambda: collections.defaultdict(list)
    )
    for edge in sorted(edges):
        kinds[edge[0]][edge[2:]].append(edge)
    chosen = []
    rng = random.Random(1)
    for of_mesh in kinds.values():
        groups = list(of_mesh.values())
        for group in groups:
            rng.shuffle(group)
        rng.shuffle(groups)
        turns = itertools.chain.from_iterable(itertools.zip_longest(*groups))
        chosen += itertools.islice((e for e in turns if e), math.ceil(count / len(kinds)))
    return sorted(chosen)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("problems", nargs="+")
    args = parser.parse_args()
    edges: dict[Edge, float] = {}
    for path in args.problems:
        with gzip.open(path) as file:
            for edge, us in edges_of(json.load(file)).items():
                if edges.setdefault(edge, us) != us:
                    raise ValueError(f"{edge} costs {edges[edge]} and {us} ({path})")
    print("mesh,bytes,contiguous,from,to,us")
    for edge in sample(edges, args.rows):
        print(*edge, repr(edges[edge]), sep=",")


if __name__ == "__main__":
    main()
