"""Models of PyTorch: graphs of modules, and modules that run as plans.

PyTorch 2.10 or newer must be installed; the rest of the package does not need it.
"""

from ._export import TorchGraph, export
from ._module import CompiledModule, compile

__all__ = ["CompiledModule", "TorchGraph", "compile", "export"]
