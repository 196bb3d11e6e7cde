"""Runs architectures as plans on virtual ranks and compares outputs, gradients and buffers with PyTorch's.

usage: torch_compare.py [--only NAME,…] [--json FILE] [--table FILE] [--check-table FILE]
  --only         these architectures
  --json         writes a row for each
  --table        writes what passed and what others lack into a document, between the lines that mark the table
  --check-table  fails where an architecture that the document says passes does not; but for rounding

Each tensor is compared with a run of PyTorch in f64 (f32 where the model cannot run in f64): the largest difference, as a share of the tensor's
largest number. Where that is less than a hundredth of the largest in all tensors of its kind, it is a share of that hundredth: a gradient that is
zero in exact arithmetic is what rounding leaves of numbers of that size.
"""
from __future__ import annotations

import argparse
import copy
import json
import pathlib
import re
import sys
import time
from typing import Any

import shardwise as sw
import shardwise.torch
import torch
import torch_zoo

LIMIT = 2e-5
LIMIT_F64 = 1e-10
MESHES = {4: {"dp": 2, "tp": 2}, 8: {"dp": 2, "tp": 4}}


def inputs_for(model: torch_zoo.Model, dtype: torch.dtype) -> Any:
    """Returns copies of the inputs. Those of floating-point type require gradients."""

    def made(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        return value.to(dtype, copy=True).requires_grad_()

    return torch.utils._pytree.tree_map(made, model.inputs)


def run(module: torch.nn.Module, inputs: Any, state: torch.nn.Module) -> dict[str, dict[str, torch.Tensor]]:
    """Returns outputs, gradients and buffers of one step. The loss is the sum of all outputs, weighted with fixed random numbers."""
    outputs = module(**inputs) if isinstance(inputs, dict) else module(*inputs)
    flat = [t for t in torch.utils._pytree.tree_leaves(outputs) if isinstance(t, torch.Tensor)]
    generator = torch.Generator().manual_seed(1)
    loss = sum((t * torch.randn(t.shape, generator=generator).to(t.dtype)).sum() for t in flat if t.requires_grad)
    loss.backward()
    gradients = {name: p.grad for name, p in state.named_parameters() if p.grad is not None}
    leaves = torch.utils._pytree.tree_leaves(inputs)
    gradients |= {f"input {i}": t.grad for i, t in enumerate(leaves) if isinstance(t, torch.Tensor) and t.grad is not None}
    return {"output": {str(i): t.detach() for i, t in enumerate(flat)}, "gradient": gradients,
            "buffer": {name: b.detach().clone() for name, b in state.named_buffers()}}


def difference(got: dict[str, dict[str, torch.Tensor]], expected: dict[str, dict[str, torch.Tensor]]) -> tuple[float, str]:
    """Returns the largest difference, and the name of its tensor."""
    worst, where = 0.0, ""
    for kind, tensors in expected.items():
        if got[kind].keys() != tensors.keys():
            return float("inf"), f"{kind}s of {sorted(got[kind].keys() ^ tensors.keys())}"
        largest = max((float(t.abs().max()) for t in tensors.values() if t.numel() and t.is_floating_point()), default=0.0)
        for name, tensor in tensors.items():
            if not tensor.numel():
                continue
            if got[kind][name].shape != tensor.shape:
                return float("inf"), f"shape of {kind} {name}"
            apart = (got[kind][name].double() - tensor.double()).abs()
            apart = apart.masked_fill(got[kind][name] == tensor, 0)  # both are the same infinity
            error = float(apart.max()) / max(float(tensor.double().abs().nan_to_num(posinf=0, neginf=0).max()), 1e-2 * largest, 1e-30)
            if not error <= worst:
                worst, where = error, f"{kind} {name}"
    return worst, where


def difference_in_f64(model: torch_zoo.Model, mesh: dict[str, int], expected: dict[str, dict[str, torch.Tensor]]) -> float:
    """Returns the difference of the same plan in f64. A difference that remains in f64 is not caused by rounding."""
    module = copy.deepcopy(model.module).double()
    compiled = sw.torch.compile(module, mesh=mesh)
    return difference(run(compiled, inputs_for(model, torch.float64), module), expected)[0]


def one(architecture: torch_zoo.Architecture) -> dict[str, Any]:
    """The row of an architecture."""
    row: dict[str, Any] = {"name": architecture.name, "kind": architecture.kind, "source": architecture.source}
    try:
        model = architecture.model()
        eager = copy.deepcopy(model.module)
        expected = in_f32 = run(eager, inputs_for(model, torch.float32), eager)
        try:
            exact = copy.deepcopy(model.module).double()
            expected = run(exact, inputs_for(model, torch.float64), exact)
        except RuntimeError:  # an operation does not support f64
            row["reference"] = "f32"
        row["torch"], _ = difference(in_f32, expected)
    except Exception as error:  # the model does not run in PyTorch, so there is nothing to compare
        return row | {"state": "not run", "why": f"{type(error).__name__}: {error}"}
    row["parameters"] = sum(p.numel() for p in model.module.parameters())
    for ranks, mesh in MESHES.items():
        began = time.monotonic()
        module = copy.deepcopy(model.module)
        try:
            compiled = sw.torch.compile(module, mesh=mesh)
            got = run(compiled, inputs_for(model, torch.float32), module)
        except sw.Unimplemented as error:
            return row | {"state": "refused", "why": str(error)}
        except Exception as error:
            return row | {"state": "failed", "why": f"{type(error).__name__}: {error}"}
        error, where = difference(got, expected)
        row |= {f"error_{ranks}": error, f"where_{ranks}": where, f"seconds_{ranks}": round(time.monotonic() - began, 2)}
        if not error <= LIMIT:
            in_f64 = float("inf") if "reference" in row else difference_in_f64(model, mesh, expected)
            return row | {"state": "imprecise" if in_f64 <= LIMIT_F64 else "wrong",
                          "why": f"on {ranks} ranks {where} differs by {error:.1e}, in f64 by {in_f64:.1e}; "
                                 f"PyTorch's own error in f32 is {row['torch']:.1e}"}
    return row | {"state": "passed", "why": ""}


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--only", type=lambda text: text.split(","))
    arguments.add_argument("--json", type=pathlib.Path)
    arguments.add_argument("--table", type=pathlib.Path)
    arguments.add_argument("--check-table", type=pathlib.Path)
    wanted = arguments.parse_args()
    torch.set_num_threads(2)
    rows = []
    for architecture in torch_zoo.ARCHITECTURES:
        if wanted.only and architecture.name not in wanted.only:
            continue
        began = time.monotonic()
        row = one(architecture)
        row["seconds"] = round(time.monotonic() - began, 1)
        rows.append(row)
        errors = ", ".join(f"{row[k]:.1e}" for k in ("torch", "error_4", "error_8") if k in row)
        print(f"{row['state']:8} {row['name']:32} {row['seconds']:6.1f} s  {errors}  {re.sub(chr(10), ' ', row['why'])[:1500]}", flush=True)
        if wanted.json:
            wanted.json.write_text(json.dumps(rows, indent=1))
    counts = {state: sum(r["state"] == state for r in rows) for state in ("passed", "refused", "imprecise", "not run", "wrong", "failed")}
    if wanted.table:
        write_table(wanted.table, rows, counts)
    # Rounding differs from run to run, so a model that just passes may count as imprecise in the next run.
    lost = [row["name"] for row in rows if wanted.check_table and row["state"] not in ("passed", "imprecise")
            and is_passed(wanted.check_table, row["name"])]
    if lost:
        print(f"{wanted.check_table} says that these pass: {', '.join(lost)}")
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return 1 if counts["wrong"] or counts["failed"] or counts["not run"] or lost else 0


# ---- The table ---------------------------------------------------------------------------------------------

BEGIN, END = "<!-- torch_compare.py --table wrote what follows -->\n", "<!-- the end of the table -->\n"


def write_table(document: pathlib.Path, rows: list[dict[str, Any]], counts: dict[str, int]) -> None:
    lines = [f"{counts['passed']} of {len(rows)} pass.\n", "| architecture | kind | parameters | on 4 ranks | on 8 ranks | PyTorch in f32 |",
             "|---|---|---|---|---|---|"]
    for row in rows:
        if row["state"] == "passed":
            errors = " | ".join(f"{row[key]:.1e}" for key in ("error_4", "error_8", "torch"))
            if "reference" in row:  # the model cannot run in f64
                errors = errors.rpartition("|")[0] + "| reference"
            lines.append(f"| {row['name']} | {row['kind']} | {row['parameters']} | {errors} |")
    lines += ["\n| not passed | kind | what it lacks |", "|---|---|---|"]
    lines += [f"| {row['name']} | {row['kind']} | {what_lacks(row)} |" for row in rows if row["state"] != "passed"]
    before, _, rest = document.read_text().partition(BEGIN)
    document.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + rest.partition(END)[2])


def what_lacks(row: dict[str, Any]) -> str:
    """The first line of the reason, or the operations that it lists."""
    operations = re.findall(r"([\w.:]+\.\w+) \(\d+\)", row["why"])
    text = ", ".join(f"`{name}`" for name in operations) or row["why"].splitlines()[0]
    return (text if row["state"] == "refused" else f"{row['state']}: {text}").replace("|", "\\|")


def is_passed(document: pathlib.Path, name: str) -> bool:
    passed = document.read_text().partition(BEGIN)[2].partition("not passed")[0]
    return f"| {name} |" in passed


if __name__ == "__main__":
    sys.exit(main())
