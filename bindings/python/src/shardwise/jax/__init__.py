"""Functions of JAX as graphs.

JAX must be installed; the rest of the package does not need it.
"""

from ._export import JaxGraph, export

__all__ = ["JaxGraph", "export"]
