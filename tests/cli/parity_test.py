#!/usr/bin/env python3
"""Checks that the library can do what the tool can. parity.txt lists every verb and option of shardwise with existing names of the C
interface; the options of a compilation are in the rows of options.inc instead. usage: parity_test.py SHARDWISE PROJECT_ROOT"""
import pathlib, re, subprocess, sys

exe, root = sys.argv[1], pathlib.Path(sys.argv[2])
PLANS = {"plan", "explain", "what-if", "search", "pareto", "compare"}
bad = 0


def complain(what):
    global bad
    print(what)
    bad = 1


def help_of(*verb):
    return subprocess.run([exe, *verb, "--help"], capture_output=True, text=True, check=True).stdout


# Reads the table and the names of the interface.
table = {}
for number, line in enumerate((root / "tests/cli/parity.txt").read_text().splitlines(), 1):
    if not line or line.startswith("#"): continue
    key, _, names = line.partition(": ")
    if key in table or not names: complain(f"parity.txt:{number}: twice, or without names: {line}")
    table[key] = names


# Each option of a compilation has a row in src/compiler/options.inc. The tool, the C interface and the bindings must have it.
def arguments(text):
    """Returns the arguments of a macro call. `text` begins after the opening parenthesis."""
    found, depth, at = [""], 0, 0
    for m in re.finditer(r'"(?:[^"\\]|\\.)*"|.', text, re.S):
        piece = m.group()
        depth += (piece in "([{<") - (piece in ")]}>")
        if depth < 0: return [a.strip() for a in found]
        if piece == "," and depth == 0: found.append("")
        else: found[-1] += piece


inc = re.sub(r"^\s*//.*$", "", (root / "src/compiler/options.inc").read_text(), flags=re.M)
options = [arguments(inc[m.end():]) for m in re.finditer(r"SHW_OPTION\(", inc)]
said = set()  # the fields that rows name
for kind, name, default, c, flag, *_ in options:
    flag, of_c = flag.strip('"'), re.findall(r"\bc\.(\w+)", c)
    said.update(of_c)
    names = re.findall(r"SHW_\w+", c) or [f"shw_compile_options::{f}" for f in of_c if not f.startswith("num_")]
    if not flag: continue
    if not names: names = [f"shw_planner_changes::{name}"]  # an option of a question only
    table[f"plans {flag}"] = " ".join([*names, *table.get(f"plans {flag}", "").split()])
    if kind not in ("bool", "double", "uint32_t"): table["what-if --new-" + flag[2:]] = " ".join(names)
rust = (root / "bindings/rust/shardwise/src/compile.rs").read_text()
python = (root / "bindings/python/src/shardwise/options.py").read_text()
for f in sorted(said - {"flags"}):
    if not re.search(rf"\braw\.{f}\b", rust): complain(f"bindings/rust: compile.rs does not set {f}")
    if f.startswith("num_"): continue
    by_port = re.sub("^(in|out)put_", "_", f)  # f"{port}_layout"
    if not re.search(rf"\b{f}\b|\}}{by_port}\b", python): complain(f"bindings/python: options.py does not set {f}")

symbols = set((root / "tests/abi/symbols.txt").read_text().split())
headers = "\n".join(f.read_text() for f in sorted((root / "capi/include/shardwise").glob("*.h")))
headers = re.sub(r"/\*.*?\*/", "", headers, flags=re.S)
fields = {m.group(2): set(re.findall(r"(\w+)(?:\[\w+\])?;", m.group(1))) for m in re.finditer(r"typedef struct \w+ {(.*?)}\s*(shw_\w+);", headers, re.S)}


THE_CALL = {"struct_size", "cancel", "progress", "progress_user", "num_threads", "reserved"}
for f in sorted(fields["shw_compile_options"] ^ (said | THE_CALL)):
    complain(f"shw_compile_options::{f}: a field and a row of src/compiler/options.inc go together")


def exists(name):
    if "::" in name:
        struct, field = name.split("::")
        return field in fields.get(struct, ())
    if name.startswith("SHW_"): return bool(re.search(rf"(#define {name}\b|\b{name} =)", headers))
    return name in symbols


for key, names in table.items():
    if names.split()[0] in ("host", "gap"): continue
    for name in names.split():
        if not exists(name): complain(f"{key}: the interface has no {name}")

# The verbs and options of the tool.
used = set()


def want(*keys):
    found = next((k for k in keys if k in table), None)
    if found is None: complain(f"parity.txt has no line for '{keys[0]}': which functions of capi/include do the same?")
    used.add(found)


listing = help_of()
verbs = re.findall(r"^  ([\w-]+) {2,}", listing[listing.index("Subcommands:"):], re.M)
for verb in verbs:
    want(verb)
    for option in re.findall(r"^ +(?:-\w,)?(--[\w-]+)", help_of(verb), re.M):
        if option != "--help": want(f"{verb} {option}", *([f"plans {option}"] if verb in PLANS else []))
for key in table.keys() - used: complain(f"{key}: the tool has no such verb or option")
gaps = [key for key, names in table.items() if names.startswith("gap")]
print(f"{len(verbs)} verbs, {len(used)} lines, {len(gaps)} gaps" + "".join(f"\n  {key}: {table[key]}" for key in gaps))
if len(verbs) < 13: complain("the list of verbs cannot be read")
sys.exit(bad)
