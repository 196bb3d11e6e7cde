#!/usr/bin/env python3
"""Checks includes (src/README.md): each folder of src may include only itself and the folders named here."""
import pathlib, re, sys

MAY = {
    "support": "",
    "tensor": "support",
    "sharding": "support tensor",
    "graph": "support tensor",
    "ops": "support tensor sharding graph",
    "rewrite": "support tensor graph ops",
    "strategy": "support tensor sharding graph ops",
    "cost": "support tensor sharding",
    "solver": "support",
    "plan": "support tensor sharding",
    "redistribution": "support tensor sharding cost plan",
    "placement": "support tensor sharding graph ops strategy cost solver plan redistribution",
    "simulate": "support tensor sharding plan",
    "lowering": "support tensor sharding graph ops strategy solver plan redistribution",
    "groups": "support tensor sharding plan",
    "recompute": "support tensor sharding graph ops plan groups",
    "passes": "support tensor sharding cost plan simulate groups",
    "recipes": "support tensor sharding graph strategy placement",
    "compiler": "support tensor sharding graph ops rewrite strategy cost solver redistribution placement plan simulate lowering groups recompute passes recipes",
    "import": "support tensor sharding graph ops rewrite solver",
    "answers": "support tensor sharding graph ops strategy cost solver placement plan simulate compiler import",
    "compare": "support tensor sharding graph strategy solver placement plan simulate recipes compiler answers",
    "report": "support tensor sharding graph strategy solver placement plan simulate compiler answers",
    "runtime": "support tensor sharding plan",
    "verify": "support tensor sharding graph plan passes compiler runtime",
    "measure": "support tensor sharding cost plan answers runtime",
    "capi": "support tensor sharding graph ops rewrite strategy cost solver placement plan simulate compiler import answers compare report runtime verify measure",
    "tools": "support tensor sharding graph ops rewrite strategy cost solver placement plan simulate lowering passes compiler answers compare report runtime verify measure import",
}
root = pathlib.Path(__file__).resolve().parents[2]
bad = 0
for f in sorted([*(root / "src").rglob("*"), *(root / "capi/src").rglob("*")]):
    if f.suffix not in (".h", ".cc", ".cu", ".cuh"): continue
    me = "capi" if f.is_relative_to(root / "capi") else f.relative_to(root / "src").parts[0]
    for number, text in enumerate(f.read_text().splitlines(), 1):
        m = re.match(r'\s*#include "(\w+)/', text)
        if not m: continue
        other = m.group(1)
        if other in MAY and other != me and other not in MAY[me].split():
            print(f"{f.relative_to(root)}:{number}: {me} may not include {other}"); bad = 1
        if '"import/onnx/' in text and f.parts[-2] != "onnx":
            print(f"{f.relative_to(root)}:{number}: the ONNX plug-in is opened at run time (import/onnx_import.h)"); bad = 1
        if '"runtime/cuda/plugin/' in text and "runtime/cuda/plugin" not in str(f):
            print(f"{f.relative_to(root)}:{number}: the CUDA plug-in is opened at run time (runtime/cuda/cuda.h)"); bad = 1
        if f.is_relative_to(root / "src/runtime/cuda") and re.search(r'"runtime/(cpu|null)/', text):
            print(f"{f.relative_to(root)}:{number}: one backend may not include another"); bad = 1
        if f.parts[-2] in ("cpu", "null") and re.search(r'"runtime/(cpu|cuda|null)/', text) and f"runtime/{f.parts[-2]}/" not in text:
            print(f"{f.relative_to(root)}:{number}: one backend may not include another"); bad = 1
print("layers:", "broken" if bad else "sound")
sys.exit(bad)
