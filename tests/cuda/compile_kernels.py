#!/usr/bin/env python3
"""Compiles the device code for the GPUs that are supported, and looks at what registers it takes.

usage: compile_kernels.py FOLDER      the folder of the device code

Every program must compile for sm_90a, and those in NO_SPILLS for each architecture: a value that one of
their kernels keeps in memory because registers are short is an error. (The test of NVRTC compiles each
program once, for all architectures in turn.) Ends with 77 where there is no nvcc.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ARCHITECTURES = ["sm_80", "sm_90a", "sm_100"]
NO_SPILLS = {"flash", "attention", "norm", "lines", "reduction", "grouped", "convolution", "sort",
             "tiled_attention"}


def compiled(folder, program, architecture, out):
    """The messages of one compilation, and whether it succeeded."""
    source = pathlib.Path(out) / f"{program}_{architecture}.cu"
    source.write_text(f'#include "{program}.cuh"\n')
    # As plugin/nvrtc.cc compiles them.
    command = ["nvcc", "-std=c++17", "--fmad=false", "-cubin", f"-arch={architecture}", "-Xptxas", "-v", "-I", folder,
               "-I", pathlib.Path(folder).parents[3], source, "-o", source.with_suffix(".cubin")]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr, done.returncode == 0


def spills(messages):
    """The kernels that keep values in memory, with how many bytes."""
    found, kernel = [], ""
    for line in messages.splitlines():
        if match := re.search(r"Compiling entry function '(\w+)'", line):
            kernel = match[1]
        if (match := re.search(r"(\d+) bytes spill stores", line)) and match[1] != "0":
            found.append(f"{kernel} spills {match[1]} bytes")
    return found


def main():
    if shutil.which("nvcc") is None:
        print("not run: no nvcc")
        return 77
    folder = sys.argv[1]
    names = (pathlib.Path(folder) / "names.h").read_text()
    programs = sorted(set(re.findall(r"X\((\w+), shw_\w+\)", names)))
    if not programs:
        print("no programs in names.h")
        return 1
    failed = False
    with tempfile.TemporaryDirectory() as out, ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {(p, a): pool.submit(compiled, folder, p, a, out) for p in programs for a in ARCHITECTURES
                if p in NO_SPILLS or a == "sm_90a"}
        for (program, architecture), job in jobs.items():
            messages, is_compiled = job.result()
            wrong = spills(messages) if program in NO_SPILLS else []
            if not is_compiled:
                wrong = [messages]
            for message in wrong:
                print(f"{architecture}: {program}.cuh: {message}")
                failed = True
    print(f"{len(programs)} programs for {', '.join(ARCHITECTURES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
