"""Stores a small model with layer norms in types other than f32: its graph, as PyTorch traces it on a CPU, and PyTorch's results
(tests/unit/verify/models_test.cc).

usage: store_norms.py FOLDER      tests/data/zoo
"""
from __future__ import annotations

import copy
import pathlib
import sys

import shardwise as sw
import shardwise.torch
import store_graphs
import torch

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}


def results(module: torch.nn.Module, x: torch.Tensor, tangent: torch.Tensor) -> dict[str, torch.Tensor]:
    """Returns the output and all gradients of one step."""
    x = x.detach().clone().requires_grad_()
    output = module(x)
    output.backward(tangent)
    return {"output": output.detach(), "grad.input.0": x.grad} | {f"grad.{name}": p.grad for name, p in module.named_parameters()}


def store(folder: pathlib.Path, name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Linear(16, 24), torch.nn.LayerNorm(24), torch.nn.Tanh(), torch.nn.Linear(24, 16),
                                 torch.nn.LayerNorm(16, elementwise_affine=False)).to(dtype)
    # Few rows, since PyTorch adds the gradients of biases up in bf16
    x, tangent = torch.randn(2, 6, 16).to(dtype).requires_grad_(), torch.randn(2, 6, 16).to(dtype)
    graph = sw.torch.export(module, (x,))
    values = graph.state() | graph.arguments(x) | dict.fromkeys(graph.tangents, tangent)
    values |= results(copy.deepcopy(module), x, tangent)
    store_graphs.write(folder / f"norms_{name}.graph.json.gz", store_graphs.portable(graph.fx_json))
    (folder / f"norms_{name}.safetensors").write_bytes(store_graphs.safetensors({n: t.detach() for n, t in values.items()}))


if __name__ == "__main__":
    for name, dtype in DTYPES.items():
        store(pathlib.Path(sys.argv[1]), name, dtype)
