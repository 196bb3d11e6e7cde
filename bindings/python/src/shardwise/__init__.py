"""Shardwise distributes a tensor program over a mesh of devices.

:func:`compile` makes a plan from a graph and a mesh. A plan is the program that every rank runs, with the cheapest placement of every tensor under a
cost model, and the proof of it::

    import shardwise as sw

    graph = sw.Graph()
    x, w = graph.input("x", (64, 128)), graph.parameter("w", (128, 512))
    graph.result((x @ w).relu(), "y")
    plan = sw.compile(graph, mesh={"dp": 2, "tp": 4})
    print(plan)
    y = plan.executor().run({"x": ..., "w": ...})["y"]
"""

from . import errors, ops
from ._compile import bench_collectives, compare, compile, hardware, hardware_names, load, load_graph, load_onnx, load_plan, measure_hardware, search, solve
from ._native import clib as _clib
from ._progress import Progress
from ._tensor import Tensor, from_dlpack, tensor
from .answers import Comparison, Explanation, Pareto, PlanExplanation, Recipes, Search, Solution, Verification
from .dtypes import DType
from .errors import (Aborted, Cancelled, DataLoss, DeadlineExceeded, Error, FailedPrecondition, Internal, InvalidArgument, NotFound, OutOfRange,
                     ResourceExhausted, Unavailable, Unimplemented)
from .executor import Executor, Session
from .graph import Graph, Output
from .node import Node, Nodes
from .plan import Plan
from .regions import Group, RegionCall
from .results import Results, Sharded
from .run import Run
from .symbols import Dim
from .tensor_file import load_tensors
from .world import World

__version__: str = _clib.shw_version_string()

__all__ = [
    "Aborted", "Cancelled", "Comparison", "DType", "DataLoss", "DeadlineExceeded", "Dim", "Error", "Executor", "Explanation",
    "FailedPrecondition", "Graph", "Group", "Internal", "InvalidArgument", "Node", "Nodes", "NotFound", "OutOfRange", "Output", "Pareto", "Plan",
    "PlanExplanation", "Progress", "Recipes", "RegionCall", "ResourceExhausted", "Results", "Run", "Search", "Session", "Sharded", "Solution", "Tensor", "Unavailable", "Unimplemented",
    "Verification", "World", "bench_collectives", "compare", "compile", "errors", "from_dlpack", "hardware", "hardware_names", "load", "load_graph", "load_onnx", "load_plan", "load_tensors", "measure_hardware", "ops", "search", "solve", "tensor",
]
