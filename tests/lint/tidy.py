#!/usr/bin/env python3
"""clang-tidy on every source of the library (src, capi/src), with its headers; the build of preset release must be there.

usage: tidy.py [--full] [FILE…]
  --full   all checks of .clang-tidy, for a quiet hour: they take five times as long as the compiler. Otherwise those below,
           which find mistakes and take less time than reading the headers does.

Files of one folder include the same headers, which take longer to read than the files. So they are checked in groups, as one
source that holds several. Where two of them give a name of their own to different things, each gets another name there. A group
that does not compile all the same is checked file by file.
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
GROUP_LINES = 4000

parser = argparse.ArgumentParser()
parser.add_argument("--full", action="store_true")
parser.add_argument("files", nargs="*")
A = parser.parse_args()


def own_names(text):
    """Returns the file-local names that a file defines at the beginning of a line, in anonymous namespaces or as static: types and others."""
    types, others = set(), set()
    for body in re.findall(r"^namespace \{\n(.*?)^\}  // namespace$", text, re.M | re.S):
        types |= set(re.findall(r"^(?:class|struct|enum class|union|using(?= \w+ =)) (\w+)", body, re.M))
        others |= set(re.findall(r"^(?:\[\[[\w:]+\]\] )?(?:[A-Za-z][\w:<>,&* \[\]]*?[\s&*>])(\w+)\(", body, re.M))
        others |= set(re.findall(r"^(?:inline )?const(?:expr|init)? [^={;]*?(\w+)(?:\[\w*\])* ?[={(]", body, re.M))
    others |= set(re.findall(r"^static (?:[A-Za-z][\w:<>,&* \[\]]*?[\s&*>])(\w+)\(", text, re.M))
    others |= set(re.findall(r"^static const(?:expr|init)? [^={;]*?(\w+)(?:\[\w*\])* ?[={(]", text, re.M))
    return types, others - types - {"if", "for", "while", "switch", "return", "operator", "__attribute__"}


def rename(text, name, new, is_type):
    """Renames a name, except where it is a member, a header or a namespace."""
    uses = re.compile(rf"(?<![\w.:\"/])(?<!->){name}\b" + ("" if is_type else r"(?!::)"))
    member = re.compile(rf"\s+(?!return\b|else\b|throw\b|case\b)(?=[A-Za-z])(?:[\w:<>,&*]+ )*[\w:<>,&*]+[ &*]{name}\(")
    return "".join(line if line.startswith("#include") or member.match(line) else uses.sub(new, line)
                   for line in text.splitlines(keepends=True))


def group_source(files):
    texts = [f.read_text() for f in files]
    owners = {}
    for i, text in enumerate(texts):
        for names, is_type in zip(own_names(text), (True, False)):
            for name in names:
                owners.setdefault(name, []).append((i, is_type))
    headers = "".join(h.read_text() for h in sorted(files[0].parent.glob("*.h")))
    for name, where in sorted(owners.items()):
        if len(where) < 2 or re.search(rf"\b{name}\(", headers):
            continue  # the folder's headers have this name, too, so it is an overload
        for i, is_type in where:
            texts[i] = rename(texts[i], name, f"{name}_{i}", is_type)
    return "".join(texts)


def real_places(text, source, files):
    """Maps the lines of a group's source to the lines of its files."""
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
    """Yields (name, source, its files, the compiler options of each file)."""
    commands = {}
    for c in json.loads((ROOT / "build/release/compile_commands.json").read_text()):
        options = []
        words = iter(shlex.split(c["command"]))
        for w in words:
            if w in ("-isystem", "-I"):
                options += [w, next(words)]
            elif w.startswith(("-I", "-D", "-std=", "-ffp")):
                options.append(w)
        source = pathlib.Path(c["file"])
        # If the files of a folder are compiled as one (SHW_UNITY), takes the files that this source includes.
        files = re.findall(r'^#include "(.+)"$', source.read_text(), re.M) if source.parent.name == "Unity" else [source]
        for f in files:
            commands[pathlib.Path(f)] = options
    tracked = subprocess.run(["git", "ls-files", "src/*.cc", "capi/src/*.cc"], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    wanted = [ROOT / f for f in (A.files or tracked.split())]
    missing = [f for f in wanted if f not in commands]
    if missing:
        sys.exit(f"build/release does not compile {missing[0]}: configure preset release first")
    homes = {}
    for f in wanted:
        homes.setdefault(f if A.files else f.parent, []).append(f)
    for files in homes.values():
        for part in parts(files):
            if len(part) == 1:
                yield str(part[0].relative_to(ROOT)), part[0], [], commands
            else:
                name = f"{part[0].parent.relative_to(ROOT)}: {len(part)} files from {part[0].name} on"
                source = pathlib.Path(folder) / (str(part[0].relative_to(ROOT)).replace("/", "_"))
                source.write_text(group_source(part))
                yield name, source, part, commands


def parts(files):
    """Yields runs of consecutive files that together have the number of lines of a group."""
    part, lines = [], 0
    for f in files:
        part.append(f)
        lines += f.read_text().count("\n")
        if lines >= GROUP_LINES:
            yield part
            part, lines = [], 0
    if part:
        yield part


def check(job):
    name, source, files, commands = job
    options = [f"-I{files[0].parent}"] if files else []
    for f in files or [source]:
        options += [o for o in commands[f] if o not in options or not o.startswith(("-I", "-D"))]
    checks = [] if A.full else ["--checks=-*," + ",".join(CHECKS)]
    r = subprocess.run(["clang-tidy", "--quiet", f"--config-file={ROOT / '.clang-tidy'}", *checks, str(source), "--", *options, "-Wno-everything"],
                       cwd=ROOT, text=True, capture_output=True)
    if files and "[clang-diagnostic-error" in r.stdout:
        print(f"{name}: do not compile as one: {r.stdout.strip().splitlines()[0]}", flush=True)
        results = [check((str(f.relative_to(ROOT)), f, [], commands)) for f in files]
        return name, max(code for _, code, _ in results), "\n".join(text for _, code, text in results if code)
    return name, r.returncode, real_places(r.stdout.strip() or r.stderr[-2000:], source, files)


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
