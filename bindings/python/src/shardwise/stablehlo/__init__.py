"""Programs in StableHLO as graphs: text, or bytecode as ``jax.export`` and other frameworks write it.

MLIR reads them, the one in JAX, which must be installed; the rest of the package does not need it.
"""

from ._load import StableHloGraph, load

__all__ = ["StableHloGraph", "load"]
