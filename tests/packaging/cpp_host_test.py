"""Builds and runs what uses the C++ layer as others get it: examples/cpp_host, and the programs of capi/CPP.md, with the installed
CMake package.

usage: cpp_host_test.py SOURCE_DIR BUILD_DIR CMAKE CXX
"""
import pathlib
import re
import subprocess
import sys
import tempfile

source, build, cmake, cxx = sys.argv[1:]

PROJECT = """cmake_minimum_required(VERSION 3.16)
project(blocks LANGUAGES CXX)
find_package(shardwise REQUIRED)
foreach(block ${BLOCKS})
  add_executable(${block} ${block}.cc)
  target_compile_features(${block} PRIVATE cxx_std_17)
  target_compile_options(${block} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Werror)
  target_link_libraries(${block} PRIVATE shardwise::shardwise)
endforeach()
"""


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def make(prefix, project, work, *options):
    run(cmake, "-G", "Ninja", "-S", project, "-B", work, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={cxx}", *options)
    run(cmake, "--build", work)


def documented_programs(prefix, folder):
    text = (pathlib.Path(source) / "capi/CPP.md").read_text()
    blocks = re.findall(r"^```cpp\n(.*?)^```", text, re.M | re.S)
    if not blocks:
        sys.exit("FAILED: capi/CPP.md has no programs")
    project = folder / "blocks"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(PROJECT)
    names = []
    for number, block in enumerate(blocks):
        names.append(f"block_{number}")
        (project / f"block_{number}.cc").write_text(block)
    make(prefix, project, folder / "blocks_build", f"-DBLOCKS={';'.join(names)}")
    for name in names:
        print(run(folder / "blocks_build" / name), end="")
    print(f"{len(names)} programs of capi/CPP.md: run")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    run(cmake, "--install", build, "--strip", "--prefix", folder / "installed")
    make(folder / "installed", f"{source}/examples/cpp_host", folder / "cpp_host")
    print(run(folder / "cpp_host" / "cpp_host"), end="")
    documented_programs(folder / "installed", folder)
