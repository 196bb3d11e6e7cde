#!/usr/bin/env python3
"""Every test that src/passes/LEDGER.md names exists, and every line says what holds it, or that it is open."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ledger = ROOT / "src/passes/LEDGER.md"

tests = set()
for source in (ROOT / "tests/unit").rglob("*.cc"):
    tests |= {".".join(pair) for pair in re.findall(r"^TEST(?:_P|_F)?\((\w+), (\w+)\)", source.read_text(), re.M)}

faults, named = [], 0
for number, line in enumerate(ledger.read_text().splitlines(), 1):
    if not line.startswith("| ") or line.startswith("| promise"):
        continue
    names = re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", line)
    named += len(names)
    faults += [f"{ledger}:{number}: there is no test {name}" for name in names if name not in tests]
    if not names and "**open**" not in line:
        faults.append(f"{ledger}:{number}: neither a test nor open")
print("\n".join(faults) or f"ledger: {named} tests, all there")
sys.exit(bool(faults) or not named)
