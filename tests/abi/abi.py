#!/usr/bin/env python3
"""Compares the C interface with its earlier state (capi/ABI.md 17, 18).

usage: abi.py symbols LIBRARY [--update]   exported symbols against symbols.txt
       abi.py constants CC [--update]      every constant of the headers, as the compiler sees it, against constants.txt
       abi.py layout CC [--update]         size of every struct and offset of every field against layout.txt
       abi.py released                     the tables above against those of the last release: lines may be added only
       abi.py diff LIBRARY [--update]      abidiff against libshardwise.abi; exit status 77 (skipped) without abigail-tools
"""
import difflib, pathlib, re, shutil, subprocess, sys, tempfile

here = pathlib.Path(__file__).resolve().parent
include = here.parents[1] / "capi/include"
HEADERS = sorted(h.stem for h in (include / "shardwise").glob("*.h") if h.stem != "shardwise")


def code_of_headers():
    text = "".join((include / f"shardwise/{h}.h").read_text() for h in HEADERS)
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S).replace("\\\n", " ")


def print_from_c(cc, statements):
    """Returns the output of a C program that includes all headers and runs `statements`."""
    with tempfile.TemporaryDirectory() as d:
        source = pathlib.Path(d) / "p.c"
        source.write_text("#include <stdio.h>\n" + "".join(f'#include "shardwise/{h}.h"\n' for h in HEADERS)
                          + "int main(void) {\n" + "".join(f"  {s}\n" for s in statements) + "  return 0;\n}\n")
        subprocess.run([cc, "-std=c99", "-I", str(include), "-o", f"{d}/p", str(source)], check=True)
        return subprocess.run([f"{d}/p"], check=True, text=True, capture_output=True).stdout.splitlines()


def constants(cc):
    code = code_of_headers()
    names = [n for body in re.findall(r"\benum\s*{(.*?)}", code, re.S) for n in re.findall(r"\b(SHW_\w+)\s*=", body)]
    macros = re.findall(r"^#define (SHW_\w+)[ \t]+(\S.*)$", code, re.M)
    names += [n for n, value in macros if not value.lstrip().startswith(("{", "__attribute__"))]
    return print_from_c(cc, [f'printf("{n} %lld\\n", (long long){n});' for n in names])


def structs():
    """Returns (name, fields, frozen) of every struct whose layout callers see."""
    for name, body in re.findall(r"typedef struct (shw_\w+) {(.*?)}", code_of_headers(), re.S):
        fields = [re.search(r"(\w+)(\[\d+\])?$", f.strip()).group(1) for f in body.split(";") if f.strip()]
        yield name, fields, fields[0] != "struct_size"


def layout(cc):
    statements = []
    for name, fields, _ in structs():
        statements.append(f'printf("{name} %lu bytes\\n", (unsigned long)sizeof({name}));')
        statements += [f'printf("{name}.{f} at %lu\\n", (unsigned long)offsetof({name}, {f}));' for f in fields]
    return print_from_c(cc, statements)


def symbols(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True, capture_output=True).stdout.splitlines()
    found = [line.split() for line in lines]
    return sorted(f"{s[-1].split('@')[0]}" + ("" if s[-2] == "T" else f" ({s[-2]})") for s in found if s[-2] != "A")


def compare(name, lines, update):
    path = here / f"{name}.txt"
    if update:
        path.write_text("".join(line + "\n" for line in lines))
    difference = list(difflib.unified_diff(path.read_text().splitlines(), lines, path.name, "now", lineterm=""))
    print("\n".join(difference) or f"{path.name}: {len(lines)} lines, equal")
    return bool(difference)


def released():
    if not (here / "released").is_dir():
        print("nothing was released yet")
        return 0
    bad = 0
    frozen = {name for name, _, is_frozen in structs() if is_frozen}
    for table in ("symbols", "constants", "layout"):
        now = (here / f"{table}.txt").read_text().splitlines()
        for line in (here / f"released/{table}.txt").read_text().splitlines():
            if line in now or line.startswith("SHW_VERSION_") or line.startswith("SHW_API_VERSION "):
                continue
            size = re.fullmatch(r"(shw_\w+) (\d+) bytes", line)
            grown = size and any((m := re.fullmatch(rf"{size[1]} (\d+) bytes", n)) and int(m[1]) > int(size[2]) for n in now)
            if grown and size[1] not in frozen:
                continue
            print(f"{table}.txt: released, and gone or changed: {line}")
            bad = 1
    print("released interface:", "broken" if bad else "kept")
    return bad


def diff(library, update):
    if shutil.which("abidw") is None or shutil.which("abidiff") is None:
        print("skipped: abidw and abidiff (Debian: abigail-tools) are not installed")
        return 77
    baseline = here / "libshardwise.abi"
    if update:
        subprocess.run(["abidw", "--exported-interfaces-only", "--headers-dir", str(include), "--drop-private-types", "--no-corpus-path",
                        "--no-comp-dir-path", "--no-show-locs", "--type-id-style", "hash", "--no-elf-needed", "--out-file", str(baseline), library], check=True)
        baseline.write_text(baseline.read_text().replace(f"{here.parents[1]}/", "../../"))  # the same table in every checkout
    result = subprocess.run(["abidiff", "--headers-dir2", str(include), str(baseline), library], text=True, capture_output=True)
    print(result.stdout + result.stderr or "abidiff: no difference")
    return result.returncode


def main(command, *rest):
    update = "--update" in rest
    if command == "released":
        return released()
    if command == "diff":
        return diff(rest[0], update)
    return compare(command, {"symbols": symbols, "constants": constants, "layout": layout}[command](rest[0]), update)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("symbols", "constants", "layout", "released", "diff"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
