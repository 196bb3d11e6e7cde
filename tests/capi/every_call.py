#!/usr/bin/env python3
"""Checks that the C++ layer and the Rust crate cover every function of the C interface.

usage: every_call.py SOURCE_DIR
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
functions = [line for line in (root / "tests/abi/symbols.txt").read_text().split() if line.startswith("shw_")]
HEADERS = root / "capi/include/shardwise"

# The functions that a layer does not need, and the reasons.
SPARED = {
    "C++": {r"shw_(op|hardware)_(count|name|find|num_params|get_param|param_init)": "plain functions of C, which cannot be wrapped shorter",
            r"shw_(api_version|version_string)": "likewise",
            r"shw_\w+_init": "structs of C have INIT macros"},
    "Rust": {r"shw_api_version": "shw_context_create compares versions",
             r"shw_runner_run": "Runner::run starts, waits, and answers what the outputs are read from"},
}


def expanded(text):
    """Returns the functions that the macros of handle.hpp call."""
    calls = set()
    for prefix, rows, row in re.findall(r"SHARDWISE_ROWS\((\w+),\s*(\w+),\s*(\w+),", text):
        calls |= {f"shw_{prefix}_num_{rows}", f"shw_{prefix}_get_{row}"}
    calls |= {f"shw_{prefix}_get_{name}" for prefix, name in re.findall(r"SHARDWISE_SUMMARY\((\w+),\s*(\w+)\)", text)}
    calls |= {f"shw_{prefix}_{name}" for prefix, name in re.findall(r"SHARDWISE_DOCUMENT\((\w+),\s*(\w+)\)", text)}
    return calls


def calls_of(files):
    text = "".join(f.read_text() for f in sorted(files))
    return set(re.findall(r"\bshw_\w+", text)) | expanded(text)


bad = 0
layers = {"C++": HEADERS.glob("cpp/*.hpp"), "Rust": (root / "bindings/rust/shardwise/src").glob("*.rs")}
for layer, files in layers.items():
    calls = calls_of(files)
    for function in functions:
        if function not in calls and not any(re.fullmatch(spared, function) for spared in SPARED[layer]):
            print(f"{layer} has no {function}")
            bad = 1
print(f"{len(functions)} functions:", "some lack" if bad else "all there")
sys.exit(bad)
