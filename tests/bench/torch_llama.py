#!/usr/bin/env python3
"""A LLaMA in PyTorch: writes the graph of its training step, or times the step.

usage: torch_llama.py --export OUT.json | --time RUNS [--compile [MODE]] [--threads N]
       --model 29m|1b  --dtype f32|bf16  --device cpu|cuda  --layers N  --batch N  --length N

Needs torch; --export also needs the package shardwise. The step takes tokens and targets and returns loss and gradients. `1b` has the shape of
LLaMA 3.2 1B, except that embedding and output are two matrices. Weights and the activations that the step keeps have the type of --dtype.
"""
import argparse
import dataclasses
import json
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass
class Config:
    dim: int
    layers: int
    heads: int
    key_heads: int
    hidden: int
    vocabulary: int
    theta: float
    batch: int
    length: int

    @property
    def width(self) -> int:
        return self.dim // self.heads

    def flops(self) -> int:
        """The FLOPs of the products, forward and backward, without recomputation. Causal attention counts half of full attention."""
        attention = 2 * self.dim * (self.heads + self.key_heads) * self.width
        weights = self.layers * (attention + 3 * self.dim * self.hidden) + self.dim * self.vocabulary
        return 6 * self.batch * self.length * (weights + self.layers * self.length * self.heads * self.width)


MODELS = {
    "29m": Config(dim=512, layers=8, heads=8, key_heads=4, hidden=1536, vocabulary=4096, theta=10000.0, batch=8, length=256),
    "1b": Config(dim=2048, layers=16, heads=32, key_heads=8, hidden=8192, vocabulary=128256, theta=500000.0, batch=1, length=4096),
}
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.c = c
        self.wq = nn.Linear(c.dim, c.heads * c.width, bias=False)
        self.wk = nn.Linear(c.dim, c.key_heads * c.width, bias=False)
        self.wv = nn.Linear(c.dim, c.key_heads * c.width, bias=False)
        self.wo = nn.Linear(c.heads * c.width, c.dim, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        c = self.c

        def heads(w: nn.Linear, count: int) -> torch.Tensor:
            return w(x).view(c.batch, c.length, count, c.width).transpose(1, 2)

        q, k, v = rotate(heads(self.wq, c.heads), cos, sin), rotate(heads(self.wk, c.key_heads), cos, sin), heads(self.wv, c.key_heads)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.wo(out.transpose(1, 2).reshape(c.batch, c.length, c.heads * c.width))


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.attention = Attention(c)
        self.w1 = nn.Linear(c.dim, c.hidden, bias=False)
        self.w2 = nn.Linear(c.hidden, c.dim, bias=False)
        self.w3 = nn.Linear(c.dim, c.hidden, bias=False)
        self.attention_norm = nn.RMSNorm(c.dim, eps=1e-5)
        self.ffn_norm = nn.RMSNorm(c.dim, eps=1e-5)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x), cos, sin)
        y = self.ffn_norm(x)
        return x + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Llama(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.c = c
        self.embedding = nn.Embedding(c.vocabulary, c.dim)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.layers))
        self.norm = nn.RMSNorm(c.dim, eps=1e-5)
        self.output = nn.Linear(c.dim, c.vocabulary, bias=False)
        angle = torch.outer(torch.arange(c.length).float(), c.theta ** (-torch.arange(0, c.width, 2).float() / c.width)).repeat(1, 2)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return F.cross_entropy(self.output(self.norm(x)).view(-1, self.c.vocabulary), targets.view(-1))


def export(path: str, c: Config, dtype: torch.dtype) -> None:
    import shardwise as sw
    import shardwise.torch

    with torch.device("meta"):
        model = Llama(c).to(dtype)
    model.to_empty(device="cpu")  # the pages are never touched, since the graph needs no values
    tokens, targets = (torch.zeros(c.batch, c.length, dtype=torch.int64) for _ in range(2))
    with open(path, "wb") as file:
        file.write(sw.torch.export(model, (tokens, targets), training=True).fx_json)


def measure(model: nn.Module, inputs: tuple[torch.Tensor, ...], runs: int, mode: str | None) -> dict[str, object]:
    """Returns the seconds of a step, on a GPU by its own clock. Gradients are written, not added to earlier ones."""
    is_cuda = inputs[0].is_cuda
    step = torch.compile(model, mode=mode) if mode else model
    wall, cpu, first = [], [], time.perf_counter()
    for run in range(runs + 2):
        model.zero_grad(set_to_none=is_cuda)
        if run == 2:
            first = time.perf_counter() - first
            if is_cuda:
                torch.cuda.reset_peak_memory_stats()
        begin, cpu_begin = time.perf_counter(), time.process_time()
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(2)] if is_cuda else []
        if is_cuda:
            torch.cuda.synchronize()
            marks[0].record()
        loss = step(*inputs)
        loss.backward()
        if is_cuda:
            marks[1].record()
            torch.cuda.synchronize()
        if run >= 2:
            wall.append(marks[0].elapsed_time(marks[1]) / 1000 if is_cuda else time.perf_counter() - begin)
            cpu.append(time.process_time() - cpu_begin)
    found = {"loss": loss.item(), "seconds": statistics.median(wall), "fastest": min(wall), "cpu_seconds": statistics.median(cpu), "first_two": first}
    return found | ({"device": torch.cuda.get_device_name(), "peak_bytes": torch.cuda.max_memory_allocated()} if is_cuda else {})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--export")
    parser.add_argument("--time", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compile", nargs="?", const="default", metavar="MODE")
    parser.add_argument("--model", choices=MODELS, default="29m")
    parser.add_argument("--dtype", choices=TYPES, default="f32")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    for name in ("layers", "batch", "length"):
        parser.add_argument(f"--{name}", type=int)
    args = parser.parse_args()
    changed = {name: getattr(args, name) for name in ("layers", "batch", "length") if getattr(args, name)}
    config = dataclasses.replace(MODELS[args.model], **changed)
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    if args.export:
        export(args.export, config, TYPES[args.dtype])
    if args.time:
        with torch.device(args.device):
            model = Llama(config).to(TYPES[args.dtype])
            inputs = tuple(torch.randint(0, config.vocabulary, (config.batch, config.length)) for _ in range(2))
        found = measure(model, inputs, args.time, args.compile)
        print(json.dumps({"torch": torch.__version__, "model": args.model, "dtype": args.dtype, "batch": config.batch, "length": config.length,
                          "layers": config.layers, "compile": args.compile, "threads": args.threads, **found,
                          "tflops": config.flops() / found["seconds"] / 1e12}))


if __name__ == "__main__":
    main()
