"""Stores graphs of some architectures of the zoo in their smallest sizes, with PyTorch's results, for tests on machines without PyTorch
(tests/unit/e2e/stored_models_test.cc).

usage: store_graphs.py FOLDER [NAME …]      tests/data/torch; NAME: only these
"""
from __future__ import annotations

import copy
import gzip
import json
import pathlib
import random
import struct
import sys
from collections.abc import Sequence
from typing import Any

import shardwise as sw
import shardwise.torch
import torch
import torch_zoo

MODELS = ("gemma2", "bloom", "deberta_v2", "fnet", "t5", "whisper", "beit", "regnet", "resnet", "timm/convmixer", "qwen3_moe", "deepseek_v3",
          "mamba", "recurrent_gemma")
"""Decoders, encoders, encoder–decoders, vision, convolutions, mixtures of experts, state-space models."""

BATCH = 4
STEP = 1 / 64
"""Parameters and images are multiples of it, which compress well."""
BITS = 18
"""Of the mantissas of results: what is rounded off is a fifth of what is tested at most."""
NOISE = 1e-5
"""A gradient whose norm is this share of the largest one's is what rounding leaves of zero: nothing to compare."""
DTYPES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64", torch.bool: "BOOL"}


class Smallest(random.Random):
    """Always chooses the smallest size."""

    def choice(self, options: Sequence[Any]) -> Any:
        return min(options)

    def randint(self, a: int, b: int) -> int:
        return 4  # of the vocabulary, in eights


def smallest(architecture: torch_zoo.Architecture) -> torch_zoo.Model:
    torch.manual_seed(1)
    model = architecture.make(Smallest())
    with torch.no_grad():
        for parameter in model.module.parameters():
            parameter.copy_(coarse(parameter + 0.1 * torch.randn_like(parameter)))
    model.inputs = torch.utils._pytree.tree_map(lambda t: coarse(t) if t.is_floating_point() else t, model.inputs)
    return model


def coarse(t: torch.Tensor) -> torch.Tensor:
    return (t / STEP).round() * STEP


def rounded(t: torch.Tensor) -> torch.Tensor:
    """Rounds to fewer bits in the mantissa."""
    if t.dtype is not torch.float32:
        return t
    mantissa, exponent = torch.frexp(t)
    return torch.ldexp((mantissa * 2**BITS).round() / 2**BITS, exponent)


def expected(module: torch.nn.Module, inputs: Any, graph: sw.torch.TorchGraph, tangents: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Returns PyTorch's results, by the names of the graph's ports."""
    outputs = torch.utils._pytree.tree_leaves(module(**inputs) if isinstance(inputs, dict) else module(*inputs))
    torch.autograd.backward([outputs[int(name.partition(".")[2])] for name in tangents], list(tangents.values()))
    found = {f"output.{i}" if i else "output": t.detach() for i, t in enumerate(outputs) if isinstance(t, torch.Tensor)}
    found |= {f"grad.{name}": p.grad for name, p in module.named_parameters() if p.grad is not None}
    return found | {f"update.buffer.{name}": b for name, b in module.named_buffers()}


def without_noise(results: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    norms = {name: float(t.norm()) for name, t in results.items() if name.startswith("grad.")}
    limit = NOISE * max(norms.values())
    return {name: t for name, t in results.items() if norms.get(name, limit) >= limit}


def store(folder: pathlib.Path, architecture: torch_zoo.Architecture) -> None:
    model = smallest(architecture)
    graph = sw.torch.export(copy.deepcopy(model.module), model.inputs)
    arguments = graph.arguments(**model.inputs) if isinstance(model.inputs, dict) else graph.arguments(*model.inputs)
    plan = sw.compile(graph, {"dp": 2, "tp": 2})
    shapes = {port["name"]: port["dims"] for port in plan.ports}
    tangents = {name: torch.randint(-2, 3, shapes[name]) / 4 for name in graph.tangents}
    values = {name: t.detach().clone() for name, t in (graph.state() | arguments | tangents).items()}
    results = plan.executor().run({name: t for name, t in values.items() if name in shapes})
    wanted = without_noise(expected(model.module, model.inputs, graph, tangents))
    wanted = {name: rounded(t) for name, t in wanted.items() if name in results.keys()}
    worst = max(apart(torch.from_dlpack(results[name]), t) for name, t in wanted.items())
    if worst > 2e-5:
        sys.exit(f"{architecture.name}: differs by {worst:.1e} from PyTorch")
    name = architecture.name.removeprefix("timm/").replace(", ", "_")
    sizes = [write(folder / f"{name}.graph.json.gz", portable(graph.fx_json)),
             write(folder / f"{name}.safetensors.gz", safetensors(values | wanted))]
    print(f"{name:28} {sum(p.numel() for p in model.module.parameters()):6} parameters, {len(wanted):3} of {len(results)} results, "
          f"differs by {worst:.1e}, {sizes[0]} + {sizes[1]} bytes")


def apart(got: torch.Tensor, wanted: torch.Tensor) -> float:
    difference, norm = float((got.double() - wanted.double()).norm()), float(wanted.double().norm())
    return difference / norm if norm else difference


def portable(fx_json: bytes) -> bytes:
    """Removes the source lines of the program that traced the graph."""
    graph = json.loads(fx_json)
    for node in graph["nodes"]:
        node.pop("stack_trace", None)
    return json.dumps(graph, separators=(",", ":")).encode()


def safetensors(tensors: dict[str, torch.Tensor]) -> bytes:
    header, data = {}, b""
    for name, t in sorted(tensors.items()):
        piece = (t.view(torch.int16) if t.dtype is torch.bfloat16 else t).contiguous().numpy().tobytes()
        header[name] = {"dtype": DTYPES[t.dtype], "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def write(path: pathlib.Path, data: bytes) -> int:
    path.write_bytes(gzip.compress(data, 9, mtime=0))
    return path.stat().st_size


def main() -> None:
    folder, *only = sys.argv[1:]
    torch_zoo.BATCH = BATCH
    for architecture in torch_zoo.ARCHITECTURES:
        if architecture.name in (only or MODELS):
            store(pathlib.Path(folder), architecture)


if __name__ == "__main__":
    main()
