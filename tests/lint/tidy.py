#!/usr/bin/env python3
"""clang-tidy on every source of the library (src, capi/src), with its headers; the build of preset asan must be there.

usage: tidy.py [--full] [FILE…]
  --full   all checks of .clang-tidy, for a quiet hour: they take five times as long as the compiler. Otherwise those below,
           which find mistakes and take less time than reading the headers does.

Files of a folder of many small ones share their headers, which are read once: such files are checked in groups, as one source
that holds them all. Where two of them give a name of their own to different things, each gets another name there.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECKS = """bugprone-copy-constructor-init bugprone-dangling-handle bugprone-fold-init-type bugprone-inaccurate-erase
bugprone-integer-division bugprone-move-forwarding-reference bugprone-parent-virtual-call bugprone-sizeof-container
bugprone-string-constructor bugprone-suspicious-enum-usage bugprone-suspicious-memset-usage bugprone-swapped-arguments
bugprone-terminating-continue bugprone-undefined-memory-manipulation bugprone-unhandled-self-assignment bugprone-use-after-move
bugprone-virtual-near-miss cppcoreguidelines-slicing performance-for-range-copy performance-move-const-arg
performance-noexcept-move-constructor performance-unnecessary-copy-initialization""".split()
GROUPED = "src/ops", "src/runtime/cpu/kernels"
GROUP = 40

parser = argparse.ArgumentParser()
parser.add_argument("--full", action="store_true")
parser.add_argument("files", nargs="*")
A = parser.parse_args()


def own_names(text):
    """What a file defines in its anonymous namespaces, at the beginning of a line."""
    names = set()
    for body in re.findall(r"^namespace \{\n(.*?)^\}  // namespace$", text, re.M | re.S):
        names |= set(re.findall(r"^(?:class|struct|enum class|union|using) (\w+)", body, re.M))
        names |= set(re.findall(r"^(?:[A-Za-z][\w:<>,&* \[\]]*?[\s&*>])(\w+)\(", body, re.M))
        names |= set(re.findall(r"^(?:inline )?const(?:expr|init)? [^=({;]*?(\w+)(?:\[\])? ?[={(]", body, re.M))
    return names - {"if", "for", "while", "switch", "return", "operator"}


def group_source(files):
    texts = [f.read_text() for f in files]
    owners = {}
    for i, text in enumerate(texts):
        for name in own_names(text):
            owners.setdefault(name, []).append(i)
    for i, f in enumerate(files):
        for name in (n for n, who in owners.items() if i in who and len(who) > 1):
            texts[i] = re.sub(rf"(?<![\w.>:]){name}\b", f"{name}_{i}", texts[i])  # members keep their names
    return "".join(texts)


def real_places(text, source, files):
    """Lines of a group's source as those of the files that it is made of."""
    def place(match):
        line = int(match[1])
        for f in files:
            count = f.read_text().count("\n")
            if line <= count:
                return f"{f.relative_to(ROOT)}:{line}"
            line -= count
        return match[0]
    return re.sub(re.escape(str(source)) + r":(\d+)", place, text)


def jobs(folder):
    """(name, source, the files that it is made of, compiler's options)"""
    commands = {}
    for c in json.loads((ROOT / "build/asan/compile_commands.json").read_text()):
        options = []
        words = iter(shlex.split(c["command"]))
        for w in words:
            if w in ("-isystem", "-I"):
                options += [w, next(words)]
            elif w.startswith(("-I", "-D", "-std=", "-ffp")):
                options.append(w)
        commands[pathlib.Path(c["file"])] = options
    tracked = subprocess.run(["git", "ls-files", "src/*.cc", "capi/src/*.cc"], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    wanted = [ROOT / f for f in (A.files or tracked.split())]
    missing = [f for f in wanted if f not in commands]
    if missing:
        sys.exit(f"build/asan does not compile {missing[0]}: build preset asan first")
    grouped = {g: [] for g in GROUPED}
    for f in wanted:
        home = str(f.parent.relative_to(ROOT))
        if home in grouped and not A.files:
            grouped[home].append(f)
        else:
            yield str(f.relative_to(ROOT)), f, [], commands[f]
    for home, files in grouped.items():
        for first in range(0, len(files), GROUP):
            part = files[first:first + GROUP]
            source = pathlib.Path(folder) / (home.replace("/", "_") + f"_{first}.cc")
            source.write_text(group_source(part))
            yield f"{home}: {len(part)} files from {part[0].name} on", source, part, commands[part[0]]


def check(job):
    name, source, parts, options = job
    checks = [] if A.full else ["--checks=-*," + ",".join(CHECKS)]
    r = subprocess.run(["clang-tidy", "--quiet", f"--config-file={ROOT / '.clang-tidy'}", *checks, str(source), "--", *options, "-Wno-everything"],
                       cwd=ROOT, text=True, capture_output=True)
    return name, r.returncode, real_places(r.stdout.strip() or r.stderr[-2000:], source, parts)


with tempfile.TemporaryDirectory() as folder:
    todo = sorted(jobs(folder), key=lambda job: job[1].is_relative_to(ROOT))  # groups first: they take longest
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, code, text in pool.map(check, todo):
            if code:
                failed += 1
                print(f"{name}:\n{text}", flush=True)
    print(f"clang-tidy: {len(todo)} sources, " + (f"FAILED: {failed}" if failed else "clean"))
    sys.exit(1 if failed else 0)
