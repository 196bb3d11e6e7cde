"""Programs in StableHLO as graphs: text, or bytecode as ``jax.export`` and other frameworks write it.

The copy of MLIR in JAX reads the programs, so JAX must be installed. The rest of the package does not need it.
"""

from ._load import StableHloGraph, load

__all__ = ["StableHloGraph", "load"]
