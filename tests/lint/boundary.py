#!/usr/bin/env python3
"""The boundary's own rules (capi/ABI.md 5, 10, 13): callers' structs are read by copy_in only, functions that can fail are guarded,
and the sweep of NULL arguments knows every function."""
import pathlib, re, sys

root = pathlib.Path(__file__).resolve().parents[2]
bad = 0


def complain(what):
    global bad
    print(what)
    bad = 1


for f in sorted((root / "capi/src").glob("*.cc")):
    text = f.read_text()
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\boptions->", line):
            complain(f"{f.name}:{number}: a caller's struct is read outside copy_in")
    for m in re.finditer(r"^shw_status\* (shw_\w+)\([^{;]*\) {\n(.*?)^}", text, re.S | re.M):
        if not re.search(r"return (guard|make_handle|fill_struct|fill_value|add|text_of)\(", m.group(2)):
            complain(f"{f.name}: {m.group(1)} is not guarded")
sweep = (root / "tests/capi/null_sweep_test.c").read_text()
for name in (root / "tests/abi/symbols.txt").read_text().split():
    if not re.search(rf"\b{name}\(", sweep):
        complain(f"null_sweep_test.c does not call {name}")
print("boundary:", "broken" if bad else "sound")
sys.exit(bad)
