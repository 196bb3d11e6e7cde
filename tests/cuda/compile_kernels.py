#!/usr/bin/env python3
"""Compiles the device code for all supported GPUs and checks its use of registers.

usage: compile_kernels.py FOLDER HEADER…
  FOLDER   of the device code
  HEADER…  the headers that the plug-in embeds: all that a program may include

It compiles as the plug-in does: with NVRTC, which needs no GPU. Every program must compile for each
architecture. In a program of NO_SPILLS, a kernel must not spill registers to memory, except as
KNOWN_SPILLS lists. The exit status is 77 if there is no NVRTC.
"""
import ctypes
import os
import pathlib
import re
import sys
from concurrent.futures import ThreadPoolExecutor

ARCHITECTURES = ["sm_80", "sm_90a", "sm_100"]
NO_SPILLS = {"flash", "attention", "norm", "lines", "reduction", "grouped", "convolution", "sort",
             "tiled_attention"}
# Spilled bytes of each thread: few compared with the 255 registers of these kernels.
KNOWN_SPILLS = {("sm_100", f"shw_flash_dkv_{dtype}_128"): 8 for dtype in ("f16", "bf16")}
LIBRARIES = [folder + name for name in ("libnvrtc.so.13", "libnvrtc.so.12") for folder in ("", "/usr/local/cuda/lib64/")]


def open_nvrtc():
    for library in LIBRARIES:
        try:
            return ctypes.CDLL(library)
        except OSError:
            continue
    return None


def strings(texts):
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))


def embedded(headers):
    """Returns the texts of the headers, and the names by which they are included (embed.cmake)."""
    names = [re.sub("^.*/src/(runtime/cuda/plugin/kernels/)?", "", header) for header in headers]
    return strings([pathlib.Path(header).read_text() for header in headers]), strings(names)


def compiled(nvrtc, headers, program, architecture):
    """Returns the messages of one compilation, and whether it succeeded."""
    options = ["--std=c++17", "--fmad=false",  # the same options as plugin/nvrtc.cc
               f"--gpu-architecture={architecture}", "--ptxas-options=-v"]
    handle, size = ctypes.c_void_p(), ctypes.c_size_t()
    texts, names = headers
    if nvrtc.nvrtcCreateProgram(ctypes.byref(handle), f'#include "{program}.cuh"\n'.encode(), program.encode(), len(texts), texts, names) != 0:
        return "NVRTC makes no program", False
    done = nvrtc.nvrtcCompileProgram(handle, len(options), strings(options))
    nvrtc.nvrtcGetProgramLogSize(handle, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    nvrtc.nvrtcGetProgramLog(handle, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(handle))
    return log.value.decode(), done == 0


def spills(messages, architecture):
    """Returns the number of kernels in the messages, and the kernels that spill more than KNOWN_SPILLS, with their bytes."""
    kernels, found, kernel = 0, [], ""
    for line in messages.splitlines():
        if match := re.search(r"Compiling entry function '(\w+)'", line):
            kernel = match[1]
            kernels += 1
        if (match := re.search(r"(\d+) bytes spill stores", line)) and int(match[1]) > KNOWN_SPILLS.get((architecture, kernel), 0):
            found.append(f"{kernel} spills {match[1]} bytes")
    return kernels, found


def main():
    nvrtc = open_nvrtc()
    if nvrtc is None:
        print("not run: no NVRTC")
        return 77
    folder, headers = sys.argv[1], embedded(sys.argv[2:])
    names = (pathlib.Path(folder) / "names.h").read_text()
    programs = sorted(set(re.findall(r"X\((\w+), shw_\w+\)", names)))
    if not programs:
        print("no programs in names.h")
        return 1
    failed = False
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {(p, a): pool.submit(compiled, nvrtc, headers, p, a) for p in programs for a in ARCHITECTURES}
        for (program, architecture), job in jobs.items():
            messages, is_compiled = job.result()
            kernels, wrong = spills(messages, architecture)
            if not is_compiled or kernels == 0:
                wrong = [messages or "it has no kernel, or the compiler does not say what it takes"]
            elif program not in NO_SPILLS:
                wrong = []
            for message in wrong:
                print(f"{architecture}: {program}.cuh: {message}")
                failed = True
    print(f"{len(programs)} programs for {', '.join(ARCHITECTURES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
