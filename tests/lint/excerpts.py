#!/usr/bin/env python3
"""The C++ and the Rust of README.md are excerpts of programs that tests build and run: each of their lines stands there, in this order."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {"cpp": "capi/CPP.md", "rust": "bindings/rust/README.md"}
bad = 0
for language, source in SOURCES.items():
    blocks = re.findall(rf"^```{language}\n(.*?)^```", (root / "README.md").read_text(), re.M | re.S)
    if not blocks:
        print(f"README.md has no {language}")
        bad = 1
    for block in blocks:
        lines = iter(line.strip() for line in (root / source).read_text().splitlines())
        for line in filter(None, (line.strip() for line in block.splitlines())):
            if line not in lines:  # goes on from the line before it
                print(f"README.md: not in {source}, or not in this order: {line}")
                bad = 1
                break
print("excerpts:", "outdated" if bad else "as the programs")
sys.exit(bad)
