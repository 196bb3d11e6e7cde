"""Makes the pages of the API reference: C by doxygen, Python by pdoc, Rust by rustdoc. A warning is a failure.

usage: reference.py SOURCE_DIR BUILD_DIR OUT_DIR VERSION

Python is documented from the venv that the test `python` leaves in the build folder. What is not installed is skipped, with a line that says so;
exit status 77 if nothing is.
"""
import os
import pathlib
import shutil
import subprocess
import sys

source, build, out = map(pathlib.Path, sys.argv[1:4])
version = sys.argv[4]
made = 0


def run(what, *command, **env):
    global made
    done = subprocess.run(list(map(str, command)), cwd=source, env={**os.environ, **env}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0 or "warning:" in done.stdout.lower():
        sys.exit(f"FAILED: {what}\n{done.stdout}")
    print(f"{what}: {out / what}")
    made += 1


shutil.rmtree(out, ignore_errors=True)
out.mkdir(parents=True)
if shutil.which("doxygen"):
    run("c", "doxygen", "capi/Doxyfile", SHW_OUT=str(out), SHW_VERSION=version)
else:
    print("skipped: c, doxygen is not installed")
python = build / "python/venv/bin/python"
if python.exists() and subprocess.run([python, "-c", "import pdoc"], capture_output=True).returncode == 0:
    # torch and jax need frameworks; clib is the C interface
    modules = ["shardwise", *(f"!shardwise.{name}" for name in ("torch", "jax", "stablehlo", "clib", "_clib"))]
    run("python", python, "-B", "-W", "error", "-m", "pdoc", "--docformat", "restructuredtext", "-o", out / "python", *modules)
else:
    print("skipped: python, the test `python` has not run, or pdoc is not installed")
cargo = shutil.which("cargo") or shutil.which(pathlib.Path.home() / ".cargo/bin/cargo")
if cargo:
    folder = source / "bindings/rust"
    libraries = {"SHARDWISE_LIB_DIR": str(build / "lib"), "CARGO_TARGET_DIR": str(build / "rust"), "RUSTDOCFLAGS": "-D warnings"}
    run("rust", cargo, "doc", "-q", "--offline", "--no-deps", "--manifest-path", folder / "Cargo.toml", **libraries)
    shutil.copytree(build / "rust/doc", out / "rust")
else:
    print("skipped: rust, cargo is not installed")
sys.exit(0 if made else 77)
