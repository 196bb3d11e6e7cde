"""Tests the Python package as users get it: as a wheel that is installed into a fresh venv.

usage: run.py SOURCE_DIR BUILD_DIR CMAKE PYTHON

Exit status 77, with the reason, where there is no package index to install the test's tools from.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

source, build, cmake, python = sys.argv[1:]
package = pathlib.Path(source) / "bindings/python"
work = pathlib.Path(build) / "python"
prefix, venv, wheels = work / "prefix", work / "venv", work / "wheels"
OFFLINE = ("NewConnectionError", "ConnectTimeoutError", "Temporary failure in name resolution", "Connection refused", "Network is unreachable")
SKIPPED = 77
began = time.monotonic()


def run(*command, may_be_offline=False, **env):
    """Runs a command; ends the test where it fails."""
    done = subprocess.run(command, cwd=work, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **env})
    if done.returncode != 0 and may_be_offline and any(sign in done.stdout for sign in OFFLINE):
        print(f"SKIPPED: no package index to install the test's tools from:\n{done.stdout[-500:]}")
        sys.exit(SKIPPED)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{done.stdout}")
    print(f"{time.monotonic() - began:5.1f} s  {' '.join(pathlib.Path(command[0]).name if i == 0 else str(w) for i, w in enumerate(command))[:120]}",
          flush=True)
    return done.stdout


shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
run(cmake, "--install", build, "--strip", "--prefix", prefix)  # a sanitizer build installs nothing, so it has no such test
run(python, "-m", "venv", venv)
tool = {"PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}", "CMAKE_PREFIX_PATH": str(prefix)}
pip = (venv / "bin/python", "-m", "pip", "--disable-pip-version-check")
run(*pip, "install", "-q", "-r", pathlib.Path(__file__).with_name("requirements.txt"), may_be_offline=True)
# Does what `pip install ./bindings/python` does, in two steps, so that the wheel can be checked.
run(*pip, "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", wheels, package, **tool)
(wheel,) = wheels.glob("shardwise-*-cp311-abi3-*.whl")
run(*pip, "install", "-q", "--no-deps", wheel)
print(run(venv / "bin/abi3audit", "--strict", "--report", wheel)[-300:])
print(run(venv / "bin/mypy", "--strict", "--cache-dir", work / "mypy", "--config-file", package / "pyproject.toml", package / "src/shardwise",
          package / "tests/typed.py"))
print(run(venv / "bin/python", "-m", "pytest", "-p", "no:cacheprovider", "-c", package / "pyproject.toml", "--rootdir", package, package / "tests",
          "--durations=5", SHARDWISE_PREFIX=str(prefix), PYTHONDONTWRITEBYTECODE="1"))
print(f"the whole took {time.monotonic() - began:.1f} s")
