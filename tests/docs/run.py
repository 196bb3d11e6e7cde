"""Runs the code blocks of every document: README.md beside this file says how.

usage: run.py SOURCE_DIR BUILD_DIR CMAKE CC CXX [--update] [DOCUMENT...]
  DOCUMENT   only these, by their paths from the root
  --update   where numbers in outputs have changed, writes the new ones into the documents: read the difference before you commit it

Exit status 77, with the reason, if the test `python` left no venv to run Python in.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from blocks import blocks_of, matches, refreshed

source, build = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
cmake, cc, cxx = map(pathlib.Path, sys.argv[3:6])
prefix, venv = build / "python/prefix", build / "python/venv"
work = build / "docs"
SKIPPED = 77
UPDATE = "--update" in sys.argv[6:]
ELSEWHERE = {  # documents whose blocks other tests run, and where those tests name them
    "bindings/rust/README.md": ("bindings/rust/shardwise/src/lib.rs", "README.md"),  # as doc tests
    "bindings/python/TORCH.md": ("tests/frameworks/test_torch.py", "TORCH.md"),  # needs PyTorch
    "bindings/python/JAX.md": ("tests/frameworks/test_jax.py", "JAX.md"),  # needs JAX
    "bindings/python/STABLEHLO.md": ("tests/frameworks/test_stablehlo.py", "STABLEHLO.md"),  # needs JAX
}
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
COMPILE = {"c": (cc, "-std=c11", "-Wstrict-prototypes", *WARNINGS), "cpp": (cxx, "-std=c++17", "-Wshadow", *WARNINGS)}
PROJECT = """cmake_minimum_required(VERSION 3.16)
project(app LANGUAGES C)
file(WRITE ${CMAKE_BINARY_DIR}/app.c "#include <shardwise/shardwise.h>\\nint main(void) { return shw_version_string() == 0; }\\n")
add_executable(app ${CMAKE_BINARY_DIR}/app.c)
"""


class Failure(Exception):
    pass


def environment():
    (pkgconfig,) = prefix.glob("lib/**/pkgconfig")
    path = [build / "bin", venv / "bin", pathlib.Path.home() / ".cargo/bin"]
    added = {"PATH": path, "PKG_CONFIG_PATH": [pkgconfig], "CMAKE_PREFIX_PATH": [prefix]}
    env = {name: os.pathsep.join([*map(str, values), *filter(None, [os.environ.get(name)])]) for name, values in added.items()}
    return {**os.environ, **env, "SHARDWISE_DIR": str(prefix), "CARGO_TARGET_DIR": str(work / "cargo"), "CC": str(cc), "CXX": str(cxx),
            "CARGO_NET_OFFLINE": "true", "PYTHONDONTWRITEBYTECODE": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Document:
    """A document while its blocks run, in a folder of its own."""

    def __init__(self, name):
        self.blocks = blocks_of(source, name)
        self.name = name
        self.folder = work / "run" / name.replace("/", "_")
        self.env = environment()
        self.printed = ""  # the output of the latest program
        self.counts = {}

    def prepare(self):
        """Makes a folder like the root of the checkout, with the files that the document writes."""
        self.folder.mkdir(parents=True)
        for entry in source.iterdir():
            if entry.name not in ("build", ".git"):
                (self.folder / entry.name).symlink_to(entry)
        (self.folder / "build").mkdir()
        (self.folder / "build/release").symlink_to(build)
        for block in self.blocks:
            if block.mark == "file":
                path = self.folder / block.value
                path.parent.mkdir(exist_ok=True)
                with open(path, "a") as file:
                    file.write(block.text)

    def execute(self, *command, stdin=None):
        return subprocess.run(list(map(str, command)), cwd=self.folder, env=self.env, input=stdin, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300)

    def need(self, block, *command, **options):
        """Returns the output of a command, which must succeed."""
        done = self.execute(*command, **options)
        if done.returncode != 0:
            raise Failure(f"{block.place}: exit status {done.returncode}\n{done.stdout}")
        return done.stdout

    def run(self):
        if any(block.mark != "not run" and block.mark != "excerpt of" for block in self.blocks):
            self.prepare()
        pythons = [b for b in self.blocks if b.language == "python" and not b.mark]
        programs = self.programs()
        for block in self.blocks:
            what = block.mark or block.language
            self.counts[what] = self.counts.get(what, 0) + 1
            if block.mark == "excerpt of":
                check_excerpt(block)
            elif block.mark:
                continue
            elif block.language == "python":
                if block is pythons[0] and venv.exists():
                    lines = [str(b.line) for b in pythons]
                    self.printed = self.need(block, "python", pathlib.Path(__file__).with_name("python_blocks.py"), source / self.name, *lines,
                                             stdin=json.dumps([b.text for b in pythons]))
            elif block.place in programs:
                self.compile(block, programs[block.place])
            elif block.language == "sh":
                self.printed = self.need(block, "bash", "-euo", "pipefail", "-c", block.text)
            elif block.language == "console":
                self.console(block)
            elif block.language == "cmake":
                self.build_project(block)
            elif block.language == "text":
                self.compare(block, block.text, whole=False)
            else:
                raise Failure(f"{block.place}: a block in {block.language} needs a comment that says what is done with it")
        return self.counts

    def programs(self):
        """Returns the C and C++ programs without a file name, by the position of their first block. A block with #include begins a program."""
        found, latest = {}, {}
        for block in self.blocks:
            if block.language in COMPILE and not block.mark:
                if re.search("^#include", block.text, re.M):
                    latest[block.language] = block.place
                    found[block.place] = ""
                if block.language not in latest:
                    raise Failure(f"{block.place}: no block before it begins a program with #include")
                found[latest[block.language]] += block.text
        return {**{b.place: "" for b in self.blocks if b.language in COMPILE and not b.mark}, **found}

    def compile(self, block, text):
        if not text:  # this block is part of an earlier program
            return
        path = self.folder / f"block_{block.line}.{block.language}"
        path.write_text(text)
        has_main = re.search(r"^int main\(", text, re.M) is not None
        asked = ["pkg-config", "--cflags", "--libs", "shardwise"]
        flags = subprocess.run(asked, env=self.env, text=True, capture_output=True, check=True).stdout.split()
        rpath = f"-Wl,-rpath,{next(prefix.glob('lib/**/libshardwise.so')).parent}"
        target = ["-o", "program", rpath] if has_main else ["-fsyntax-only", "-Wno-unused-function"]
        self.need(block, *COMPILE[block.language], path, *flags, *target)
        if has_main:
            self.printed = self.need(block, "./program")

    def console(self, block):
        for command, expected in re.findall(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", block.text, re.M):
            self.printed = self.execute("bash", "-c", command).stdout
            self.compare(block, expected, whole=True)

    def compare(self, block, expected, whole):
        if matches(expected, self.printed, whole):
            return
        new = refreshed(expected, self.printed)
        if not UPDATE or not matches(new, self.printed, whole):
            raise Failure(f"{block.place}: it prints\n{self.printed}\nand not\n{expected}\nIf only numbers differ, --update writes the new ones.")
        path = source / self.name
        path.write_text(path.read_text().replace(expected, new, 1))

    def build_project(self, block):
        folder = self.folder / f"project_{block.line}"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(PROJECT + block.text)
        self.need(block, cmake, "-G", "Ninja", "-S", folder, "-B", folder / "build")
        self.need(block, cmake, "--build", folder / "build")
        self.need(block, folder / "build/app")


def check_excerpt(block):
    lines = iter([line.strip() for line in (source / block.value).read_text().splitlines()])
    for line in filter(None, map(str.strip, block.text.splitlines())):
        if line not in lines:  # continues the previous line
            raise Failure(f"{block.place}: not in {block.value}, or not in this order: {line}")


def check_links(documents):
    """Checks the links between files of the repository, and to headings in them."""
    broken = []
    for name in documents:
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", (source / name).read_text(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, heading = target.partition("#")
            file = (source / name).parent / path if path else source / name
            if re.match(r"\w+:", target):
                continue
            if not file.exists():
                broken.append(f"{name}: {target}")
            elif heading and file.suffix == ".md" and heading not in anchors(file):
                broken.append(f"{name}: {target}: no such heading")
    return broken


def anchors(file):
    """The anchors of headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_pictures():
    """Checks that the pictures of the guide are those that the library draws."""
    drawn = work / "pictures"
    drawn.mkdir()
    subprocess.run([venv / "bin/python", "-B", source / "examples/draw_concepts.py", drawn], check=True)
    different = [path.name for path in drawn.iterdir() if path.read_text() != (source / "examples/guide" / path.name).read_text()]
    return [f"examples/guide/{name}: draw it again: examples/draw_concepts.py examples/guide" for name in different]


def check_notebooks():
    """Checks that the notebooks give the outputs that they store."""
    failed = []
    for path in sorted((source / "examples").glob("**/*.ipynb")):
        done = subprocess.run([venv / "bin/python", "-B", pathlib.Path(__file__).with_name("notebook.py"), path], cwd=work, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(f"       {path.relative_to(source)}: {'FAILED' if done.returncode else 'as stored'}")
        if done.returncode:
            failed.append(f"{path}\n{done.stdout}")
    return failed


def run_document(name):
    began = time.monotonic()
    try:
        counts = Document(name).run()
        return name, counts, None, time.monotonic() - began
    except (Failure, ValueError, subprocess.TimeoutExpired) as why:
        return name, {}, str(why), time.monotonic() - began


def main():
    listed = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard", "*.md"], text=True, capture_output=True, check=True).stdout
    documents = [name for name in sys.argv[6:] if name != "--update"] or sorted(listed.split())
    shutil.rmtree(work / "run", ignore_errors=True)
    shutil.rmtree(work / "pictures", ignore_errors=True)
    work.mkdir(exist_ok=True)
    for name, (test, sign) in ELSEWHERE.items():
        if sign not in (source / test).read_text():
            sys.exit(f"FAILED: {name} should be run by {test}, which does not name it")
    bad, total = check_links(documents), 0
    with_code = [name for name in documents if name not in ELSEWHERE and blocks_of(source, name)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, counts, why, seconds in pool.map(run_document, with_code):
            total += sum(counts.values())
            print(f"{seconds:5.1f} s  {name}: {', '.join(f'{count} {what}' for what, count in counts.items()) or 'FAILED'}", flush=True)
            if why:
                bad.append(why)
    if venv.exists():
        bad += check_pictures() + check_notebooks()
    for why in bad:
        print(f"FAILED: {why}")
    print(f"{total} blocks of {len(with_code)} documents; {len(ELSEWHERE)} documents are run by other tests")
    if not venv.exists():
        print(f"SKIPPED: no venv in {venv}: Python was not run")
    sys.exit(1 if bad or total == 0 else 0 if venv.exists() else SKIPPED)


main()
