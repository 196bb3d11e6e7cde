"""Builds and runs examples/cpp_host as others would: with the installed CMake package.

usage: cpp_host_test.py SOURCE_DIR BUILD_DIR CMAKE CXX
"""
import pathlib
import subprocess
import sys
import tempfile

source, build, cmake, cxx = sys.argv[1:]


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def make(prefix, project, work, *options):
    run(cmake, "-G", "Ninja", "-S", project, "-B", work, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={cxx}", *options)
    run(cmake, "--build", work)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    run(cmake, "--install", build, "--strip", "--prefix", folder / "installed")
    make(folder / "installed", f"{source}/examples/cpp_host", folder / "cpp_host")
    print(run(folder / "cpp_host" / "cpp_host"), end="")
