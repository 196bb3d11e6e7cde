#!/usr/bin/env python3
"""A LLaMA of 29 M parameters in PyTorch: writes the graph of its training step, or times the step.

usage: torch_llama.py --export OUT.json | --time RUNS [--threads N] [--compile]

Needs torch; --export also needs the package shardwise. The step: tokens and targets in, loss and gradients out, in f32.
"""
import argparse
import json
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

DIM, LAYERS, HEADS, KEY_HEADS, HIDDEN, VOCABULARY = 512, 8, 8, 4, 1536, 4096
BATCH, LENGTH = 8, 256
WIDTH = DIM // HEADS


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wq = nn.Linear(DIM, HEADS * WIDTH, bias=False)
        self.wk = nn.Linear(DIM, KEY_HEADS * WIDTH, bias=False)
        self.wv = nn.Linear(DIM, KEY_HEADS * WIDTH, bias=False)
        self.wo = nn.Linear(HEADS * WIDTH, DIM, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        def heads(w: nn.Linear, count: int) -> torch.Tensor:
            return w(x).view(BATCH, LENGTH, count, WIDTH).transpose(1, 2)

        q, k, v = rotate(heads(self.wq, HEADS), cos, sin), rotate(heads(self.wk, KEY_HEADS), cos, sin), heads(self.wv, KEY_HEADS)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.wo(out.transpose(1, 2).reshape(BATCH, LENGTH, HEADS * WIDTH))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.w1 = nn.Linear(DIM, HIDDEN, bias=False)
        self.w2 = nn.Linear(HIDDEN, DIM, bias=False)
        self.w3 = nn.Linear(DIM, HIDDEN, bias=False)
        self.attention_norm = nn.RMSNorm(DIM, eps=1e-5)
        self.ffn_norm = nn.RMSNorm(DIM, eps=1e-5)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x), cos, sin)
        y = self.ffn_norm(x)
        return x + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Llama(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, DIM)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(DIM, eps=1e-5)
        self.output = nn.Linear(DIM, VOCABULARY, bias=False)
        angle = torch.outer(torch.arange(LENGTH).float(), 10000.0 ** (-torch.arange(0, WIDTH, 2).float() / WIDTH)).repeat(1, 2)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return F.cross_entropy(self.output(self.norm(x)).view(-1, VOCABULARY), targets.view(-1))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--export")
    parser.add_argument("--time", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    model = Llama()
    tokens, targets = (torch.randint(0, VOCABULARY, (BATCH, LENGTH)) for _ in range(2))
    if args.export:
        import shardwise as sw
        import shardwise.torch

        with open(args.export, "wb") as file:
            file.write(sw.torch.export(model, (tokens, targets), training=True).fx_json)
    if args.time:
        step = torch.compile(model) if args.compile else model
        wall, cpu = [], []
        for run in range(args.time + 2):
            model.zero_grad(set_to_none=False)
            begin, cpu_begin = time.perf_counter(), time.process_time()
            step(tokens, targets).backward()
            if run >= 2:
                wall.append(time.perf_counter() - begin)
                cpu.append(time.process_time() - cpu_begin)
        print(json.dumps({"torch": torch.__version__, "compile": args.compile, "threads": args.threads,
                          "seconds": statistics.median(wall), "cpu_seconds": statistics.median(cpu)}))


if __name__ == "__main__":
    main()
