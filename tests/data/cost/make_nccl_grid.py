"""Packs the reference planner's grid of collective costs for the unit tests.

Usage: make_nccl_grid.py nccl_cost_grid.csv.gz > nccl_grid.csv

The input has one row for each (cluster, mesh, mesh dim, collective, bytes), as printed by
meta-pytorch/autoparallel (a54c252), cost_models/nccl_cost_model. The output has one line for each
of those without `bytes`, and the costs in µs of all sizes, which are in the first line.
"""

import csv
import gzip
import sys

KEYS = (
    "arch,gpus_per_node,bw_inter,has_nvswitch,has_collnet,net_latency,num_channels,"
    "mesh_shape,mesh_dim,n_ranks,n_nodes,ppn,collective"
).split(",")


def main() -> None:
    groups: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    with gzip.open(sys.argv[1], "rt") as file:
        for row in csv.DictReader(file):
            cost = repr(float(row["cost_us"]))
            groups.setdefault(tuple(row[k] for k in KEYS), []).append((int(row["bytes"]), cost))
    sizes = [size for size, _ in next(iter(groups.values()))]
    print(",".join(KEYS + [str(size) for size in sizes]))
    for key, costs in groups.items():
        assert [size for size, _ in costs] == sizes
        print(",".join([k or "0" for k in key] + [cost for _, cost in costs]))


if __name__ == "__main__":
    main()
