#!/usr/bin/env python3
"""Writes capi/OPS.md: every operation, with its parameters as the tool knows them and its meaning as its file begins.

usage: document.py SHARDWISE [--check]      --check: compares; exit status 1 where they differ
"""
import difflib
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE.parents[1] / "capi/OPS.md"
HEAD = """# Operations

What a graph may consist of: the names that `shw_builder_add_node()` takes, and that `shardwise ops` prints. Most have the name, the operands and the
meaning of the ATen core operator of PyTorch; reductions take `dims` for its `dim`.

Parameters without a type are operands, "…" any number of them; those with a type are attributes. "?" may be left out, "= value" is the default.
A "tensor or number" is an operand, or an attribute of that name: `mul` of x by 0.1 has the operand x and the attribute `other`.
Operations with several results give a tuple, of which `get_item` takes one.

Gradients are operations of a graph like others: of `relu` with `threshold_backward` and threshold 0, of `mm` with `t` and `mm`.

"""


def meaning(name):
    """The first paragraph of the file's head."""
    lines = []
    for line in (HERE / f"{name}.cc").read_text().splitlines():
        if not line.startswith("//") or line.rstrip() == "//":
            break
        lines.append(line[2:].removeprefix(" "))
    text = " ".join(line.strip() for line in lines)
    assert text.startswith(name + ": "), f"src/ops/{name}.cc does not begin with what it is"
    return text.removeprefix(name + ": ")


def document(tool):
    listed = subprocess.run([tool, "ops"], check=True, text=True, capture_output=True).stdout.splitlines()
    entries = {re.match(r"\w+", line)[0]: line.replace("...", "…") for line in listed}
    return HEAD + "".join(f"* `{entries[name]}`: {meaning(name)}\n" for name in sorted(entries))


def main():
    text = document(sys.argv[1])
    if "--check" not in sys.argv:
        OUT.write_text(text)
        return
    difference = list(difflib.unified_diff(OUT.read_text().splitlines(), text.splitlines(), "capi/OPS.md", "src/ops", lineterm="", n=0))
    print("\n".join(difference))
    sys.exit(1 if difference else 0)


main()
