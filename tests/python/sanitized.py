"""Tests the Python package under the address sanitizer: its C code and the library of this build. Python preloads the sanitizer's runtime.

usage: sanitized.py SOURCE_DIR BUILD_DIR CLANG VENV

VENV has Python, SWIG, NumPy and pytest: the test `python` of the release build leaves it. Exit status 77 where there is none.

At exit, Python and NumPy have some objects without a pointer to them. So a test's process may leak as much as one that only imports them, and no
more. The sanitizer does not see leaks of objects that Python's garbage collector tracks; test_runs_do_not_leak counts these.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

source, build, clang, venv = sys.argv[1:]
package = pathlib.Path(source) / "bindings/python"
library, work = pathlib.Path(build) / "lib", pathlib.Path(build) / "python"
python = pathlib.Path(venv) / "bin/python"
SKIPPED = 77
NOT_HERE = ("mpi",  # MPI starts its processes
            "100_mb", "do_not_leak",  # the sanitizer keeps freed memory
            "gil_is_free", "search_over_meshes", "best_plan_so_far", "second_ctrl_c", "exit_with_everything")  # long


def output(*command):
    """Returns the output of a command. Ends the test if the command fails."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout.strip()


def make_package():
    headers = pathlib.Path(source) / "capi/include"
    made = work / "shardwise"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(package / "src/shardwise", made)
    wrapper = work / "clib_wrap.c"
    output(python.with_name("swig"), "-python", f"-I{headers}", f"-I{package}/swig", "-outdir", made, "-o", wrapper, package / "swig/clib.i")
    include = output(python, "-c", "import sysconfig; print(sysconfig.get_path('include'))")
    output(clang, "-std=c11", "-O0", "-g1", "-w", "-fPIC", "-shared", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
           "-fno-sanitize-recover=all", "-DPy_LIMITED_API=0x030b0000", f"-I{include}", f"-I{headers}", f"-I{package}/native", wrapper,
           *package.glob("native/*.c"), f"-L{library}", "-lshardwise", f"-Wl,-rpath,{library}", "-o", made / "_clib.abi3.so")


def run(name, *arguments, tries=3):
    """Runs Python with the sanitizer. Returns the bytes that each of its processes leaked, and the sanitizer's report. The output goes to a
    file, since a pipe would stay open as long as any process has it."""
    logs = work / name
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir()
    runtimes = [output(clang, "-print-file-name=libclang_rt.asan-x86_64.so"), output(clang, "-print-file-name=libstdc++.so.6")]
    environment = {**os.environ, "LD_PRELOAD": ":".join(runtimes), "PYTHONMALLOC": "malloc", "PYTHONDONTWRITEBYTECODE": "1",
                   "PYTHONPATH": str(work), "ASAN_OPTIONS": f"detect_leaks=1:symbolize=0:log_path={logs}/log", "LSAN_OPTIONS": "exitcode=0",
                   "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={logs}/log"}
    printed = work / f"{name}.txt"
    with printed.open("w") as file:
        done = subprocess.run([python, *arguments], env=environment, cwd=package, stdin=subprocess.DEVNULL, stdout=file, stderr=file, timeout=500)
    reports = [log.read_text() for log in logs.iterdir()]
    # The leak sanitizer itself sometimes crashes if a thread ends during its search. Such a run has no result.
    if tries > 1 and any("LeakSanitizer has encountered a fatal error" in report for report in reports):
        return run(name, *arguments, tries=tries - 1)
    for report in reports:
        if "detected memory leaks" not in report:
            sys.exit(f"FAILED: {name}\n{report}")
    if done.returncode:
        sys.exit(f"FAILED: {name}\n{printed.read_text()}")
    print(printed.read_text())
    return [(int(re.search(r"(\d+) byte\(s\) leaked", report)[1]), report) for report in reports]


if not python.with_name("swig").exists():
    print(f"SKIPPED: {venv} is missing: run ctest -R '^python$' in the release build first")
    sys.exit(SKIPPED)
make_package()
imports = "import ctypes, numpy, ml_dtypes, pytest, shardwise"
loses = f"{imports}; [ctypes.CDLL('{library}/libshardwise.so').shw_cancel_create(ctypes.byref(ctypes.c_void_p())) for _ in range(10)]"
allowed = max([lost for lost, _ in run("nothing", "-c", imports)], default=0)
if not any(lost > allowed for lost, _ in run("loses", "-c", loses)):
    sys.exit("FAILED: a process that loses objects of the library was not found to lose them")
tests = [package / "tests" / f"test_{name}.py" for name in ("tensor", "graph", "regions", "run", "in_flight", "progress")]
for lost, text in run("tests", "-m", "pytest", "-p", "no:cacheprovider", "-c", package / "pyproject.toml", "--rootdir", package, "--durations=5",
                      "-k", " and ".join(f"not {word}" for word in NOT_HERE), *tests):
    if lost > allowed:
        sys.exit(f"FAILED: {lost} bytes are lost; Python and NumPy lose {allowed}\n{text}")
