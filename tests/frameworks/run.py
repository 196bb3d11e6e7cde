"""Tests the Python package with the real frameworks, in a separate venv. The venv has several gigabytes, so tests/run.sh runs this only
with --with-frameworks.

usage: run.py BUILD_DIR      the wheel of BUILD_DIR/python/wheels, which the ctest `python` leaves there
"""
import os
import pathlib
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
package = here.parents[1] / "bindings/python"
build = pathlib.Path(sys.argv[1]).resolve()
work = build / "frameworks"
python = work / "venv/bin/python"
began = time.monotonic()


def run(*command, **env):
    """Runs a command; ends the test where it fails."""
    print(f"{time.monotonic() - began:6.1f} s  {' '.join(map(str, command))[:150]}", flush=True)
    if subprocess.run(command, cwd=work, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **env}).returncode:
        sys.exit(f"FAILED: {' '.join(map(str, command))}")


wheels = list((build / "python/wheels").glob("shardwise-*.whl"))
if len(wheels) != 1:
    sys.exit(f"{build}/python/wheels has {len(wheels)} wheels: run ctest -R '^python$' first")
work.mkdir(parents=True, exist_ok=True)
if not python.exists():
    run(sys.executable, "-m", "venv", work / "venv")
pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "-q")
run(*pip, "-r", here / "requirements.txt")
run(*pip, "--no-deps", "--force-reinstall", wheels[0])
run(python, "-m", "mypy", "--strict", "--cache-dir", work / "mypy", "--config-file", package / "pyproject.toml", package / "src/shardwise")
run(python, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:logging", "-q", here)
run(python, here / "torch_compare.py", "--json", work / "torch.json", "--check-table", package / "TORCH.md")
print(f"the whole took {time.monotonic() - began:.0f} s")
