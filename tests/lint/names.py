#!/usr/bin/env python3
"""Checks that no two types of a namespace have the same name, even in different files. Compilers do not detect this, and linkers use the inline
functions of one of the two for both."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
defined = collections.defaultdict(set)
for path in sorted([*(ROOT / "src").rglob("*"), *(ROOT / "capi/src").rglob("*")]):
    if path.suffix not in (".h", ".cc"):
        continue
    namespaces = []
    for line in path.read_text().splitlines():
        if opened := re.match(r"namespace (?:([\w:]+) )?\{", line):
            namespaces.append(opened[1])
        elif line.startswith("}  // namespace"):
            namespaces.pop()
        elif (type_ := re.match(r"(?:struct|class) (\w+)(?: final)?(?: :[^;]*)? \{", line)) and None not in namespaces:
            defined["::".join([*namespaces, type_[1]])].add(str(path.relative_to(ROOT)))
twice = {name: paths for name, paths in defined.items() if len(paths) > 1}
for name, paths in twice.items():
    print(f"{name} is defined in {' and in '.join(sorted(paths))}")
print(f"names: {len(defined)} types,", "some twice" if twice else "none twice")
sys.exit(bool(twice))
