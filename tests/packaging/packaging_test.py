"""Installs the library, moves the result, and builds and runs a C program against it in each way that the README names.

usage: packaging_test.py SOURCE_DIR BUILD_DIR CMAKE CC PKG_CONFIG
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

source, build, cmake, cc, pkg_config = (sys.argv[1:] + [""])[:5]
here = pathlib.Path(__file__).resolve().parent
example = f"{source}/examples/c/minimal.c"


def run(*command, **env):
    """Returns the command's output. Ends the test if the command fails."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **env})
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def version():
    numbers = {}
    for line in open(f"{source}/capi/include/shardwise/base.h"):
        words = line.split()
        if len(words) == 3 and words[1].startswith("SHW_VERSION_"):
            numbers[words[1][len("SHW_VERSION_"):]] = words[2]
    return ".".join(numbers[part] for part in ("MAJOR", "MINOR", "PATCH"))


def find_package(prefix, work):
    run(cmake, "-G", "Ninja", "-S", here / "find_package", "-B", work, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={cc}",
        f"-DEXAMPLE={example}", f"-DWANTED={version()}")
    run(cmake, "--build", work)
    for program in ("with_shared", "with_static"):
        run(work / program)
    needed = run("readelf", "-d", work / "with_static")
    check("libshardwise" not in needed, "the program with the static library needs the shared one")


def with_pkg_config(prefix, work):
    env = {"PKG_CONFIG_PATH": f"{prefix}/{LIBRARIES}/pkgconfig"}
    check(run(pkg_config, "--modversion", "shardwise", **env).strip() == version(), "shardwise.pc has another version")
    flags = run(pkg_config, "--cflags", "--libs", "shardwise", **env).split()
    check(f"-I{prefix}/include" in [os.path.normpath(f) if f[0] == "/" else f[:2] + os.path.normpath(f[2:]) for f in flags],
          f"shardwise.pc does not follow its tree: {flags}")
    run(cc, "-std=c99", example, "-o", work / "shared", *flags, "-lm")
    run(work / "shared", LD_LIBRARY_PATH=f"{prefix}/{LIBRARIES}")
    flags = run(pkg_config, "--static", "--cflags", "--libs", "shardwise", **env).split()
    flags = ["-l:libshardwise.a" if f == "-lshardwise" else f for f in flags]
    run(cc, "-std=c99", example, "-o", work / "static", *flags)
    run(work / "static")


def as_subproject(work):
    """Only configures. The list of targets shows what a build would make."""
    run(cmake, "-G", "Ninja", "-S", here / "subproject", "-B", work, f"-DSHARDWISE={source}", f"-DEXAMPLE={example}")
    targets = run("ninja", "-C", work, "-t", "targets", "all")
    check("libshardwise.so" in targets and "user: " in targets, "the subproject lacks the library")
    for absent in ("shardwise_cli", "unit_", "GTest", "cmd_plan"):
        check(absent not in targets, f"the subproject has {absent}")
    check("build type: []" in run(cmake, "-S", here / "subproject", "-B", work), "the subproject changed its parent's build type")


def installed_files(prefix):
    for file in (f"{LIBRARIES}/libshardwise.so", f"{LIBRARIES}/libshardwise.a", "bin/shardwise", "include/shardwise/shardwise.h", "include/shardwise/shardwise.hpp",
                 "share/doc/shardwise/LICENSE", "share/doc/shardwise/THIRD_PARTY.md",
                 "share/doc/shardwise/ABI.md", "share/doc/shardwise/examples/minimal.c", "share/doc/shardwise/examples/train.c"):
        check((prefix / file).exists(), f"{file} is not installed")
    check(version() in run(prefix / "bin/shardwise", "--version"), "the tool has another version")
    if pathlib.Path(build, "lib/libshardwise_onnx.so").exists():  # the tool finds it relative to its own folder
        run(prefix / "bin/shardwise", "import", "--from", "onnx", f"{source}/tests/data/onnx/shapes.onnx", "--sizes", "N=4", "-o",
            prefix.parent / "shapes.swgraph")
    for file in (prefix / LIBRARIES).rglob("*"):
        if file.suffix in (".cmake", ".pc"):
            text = file.read_text()
            check(source not in text and build not in text, f"{file.name} names the build's folders")


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    run(cmake, "--install", build, "--strip", "--prefix", folder / "first")
    prefix = folder / "moved"
    shutil.move(folder / "first", prefix)
    LIBRARIES = os.path.relpath(next(prefix.rglob("libshardwise.a")).parent, prefix)
    installed_files(prefix)
    find_package(prefix, folder / "find_package")
    if pkg_config and "NOTFOUND" not in pkg_config:
        (folder / "pkg_config").mkdir()
        with_pkg_config(prefix, folder / "pkg_config")
    else:
        print("no pkg-config: not tested")
    as_subproject(folder / "subproject")
