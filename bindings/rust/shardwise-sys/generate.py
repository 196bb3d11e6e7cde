#!/usr/bin/env python3
"""Declares the C interface in Rust, from the headers as clang reads them. Nothing is declared by hand.

usage: generate.py [--check] [--clang CLANG]
  without    writes src/declarations.rs and tests/layout.in
  --check    compares them with what the headers say now; exit status 1 where they differ
"""
import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[2] / "capi/include"
SCALARS = {"void": "c_void", "char": "c_char", "double": "f64", "size_t": "usize", "int32_t": "i32", "uint32_t": "u32",
           "int64_t": "i64", "uint64_t": "u64", "uint8_t": "u8"}
HEAD = "// Written by generate.py from capi/include/shardwise. Change those headers, and run it again.\n"


# ---- What the headers say ---------------------------------------------------------------------------------------------------

def clang(compiler, *options):
    return subprocess.run([compiler, "-x", "c", "-std=c99", "-I", str(INCLUDE), *options, "-fsyntax-only", "-"], check=True, text=True,
                          capture_output=True, input='#include "shardwise/shardwise.h"\n' + SIZES).stdout


def header_names():
    return re.findall(r'^#include "shardwise/(\w+)\.h"', (INCLUDE / "shardwise/shardwise.h").read_text(), re.M)


TEXT = "".join((INCLUDE / f"shardwise/{name}.h").read_text() for name in header_names())
STRUCTS = re.findall(r"^typedef struct (shw_\w+) {(.*?)^}", TEXT, re.M | re.S)
SIZES = "".join(f"char size_of_{name}[sizeof({name})];\n" for name, _ in STRUCTS)  # makes clang lay them all out


def comment_before(pattern):
    """The comment that ends where `pattern` begins, without its stars."""
    found = re.search(r"/\*\*?((?:(?!\*/).)*)\*/\n" + pattern, TEXT, re.S | re.M)
    return [re.sub(r"^ ?\* ?", "", line).rstrip() for line in found[1].strip().split("\n")] if found else []


def field_comments(body):
    """The comment of each field: after it, or on the lines before it."""
    comments, before = {}, ""
    for part in re.finditer(r"/\*(.*?)\*/|([^;/]+);", body, re.S):
        if part[2]:
            field = re.search(r"(\w+)(\[\d+\])?$", part[2].strip())[1]
            comments[field] = before
            before, last = "", field
            end = part.end()
        else:
            said = " ".join(re.sub(r"^\s*\*? ?", "", line) for line in part[1].strip().split("\n"))
            if comments and "\n" not in body[end:part.start()]:
                comments[last] = said
            else:
                before = said
    return comments


# ---- Rust -------------------------------------------------------------------------------------------------------------------

def doc(lines, indent=""):
    """Comment lines as rustdoc: tags become a list, indented text stays as it is."""
    out, fenced, tagged = [], False, False
    for line in lines:
        tag = re.match(r"@(param|retval|return|thread|since)\s*(.*)", line)
        if not tagged and not tag and re.match(r" {2,}\S", line) and not fenced:
            out.append("```text")
            fenced = True
        if fenced and (tag or not line.startswith("  ")):
            out.append("```")
            fenced = False
        if tag:
            if not tagged:
                out.append("")
            tagged = True
            kind, rest = tag.groups()
            name, _, rest2 = rest.partition(" ")
            out.append({"param": f"* `{name}`: {plain(rest2.strip())}", "retval": f"* `{name}`: {plain(rest2.strip())}",
                        "return": f"* Returns {plain(rest)}", "thread": f"* Threads: {plain(rest)}",
                        "since": f"* Since {plain(rest)}"}[kind])
        else:
            out.append(line if fenced else "  " + plain(line.strip()) if tagged else plain(line))
    if fenced:
        out.append("```")
    return "".join(f"{indent}///{' ' + line if line.strip() else ''}".rstrip() + "\n" for line in out)


def plain(text):
    """Text without what Markdown takes for links, tags or emphasis."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([\[\]<>*])", r"\\\1", p) for p in parts)


def rust_type(c):
    c = c.strip()
    array = re.fullmatch(r"(.*?)\s*\[(\d+)\]", c)
    if array:
        return f"[{rust_type(array[1])}; {array[2]}]"
    if c.endswith("*const"):
        c = c[:-5].rstrip()
    if c.endswith("*"):
        to = c[:-1].rstrip()
        constant = to.endswith("const") or (to.startswith("const ") and "*" not in to)
        return f"*{'const' if constant else 'mut'} {rust_type(to)}"
    name = re.sub(r"^(const |struct )+", "", c)
    return SCALARS.get(name, name)


def result(c):
    return "" if c.strip() == "void" else f" -> {rust_type(c)}"


def word(name):
    """A name of C that may be a keyword of Rust."""
    return "r#" + name if name in ("type", "move", "ref", "match", "use", "loop", "impl", "mod", "in", "fn") else name


def arguments(text):
    """Types of the arguments of a callback."""
    return ", ".join(rust_type(a) for a in text.split(",")) if text.strip() not in ("", "void") else ""


def opaque(name):
    said = re.search(rf"^typedef struct {name}\s+{name};\s*/\* (.*?) \*/", TEXT, re.M | re.S)
    note = doc([re.sub(r"\s+", " ", said[1]) + "."]) if said else ""
    return (f"{note}#[repr(C)]\npub struct {name} {{\n    _data: [u8; 0],\n"
            f"    _marker: PhantomData<(*mut u8, PhantomPinned)>,\n}}\n\n")


def struct(node, body):
    name, comments = node["name"], field_comments(body)
    fields = "".join((doc([comments[f["name"]]], "    ") if comments.get(f["name"]) else "")
                     + f"    pub {word(f['name'])}: {rust_type(f['type']['qualType'])},\n" for f in node["inner"] if f["kind"] == "FieldDecl")
    return doc(comment_before(rf"typedef struct {name} {{")) + f"#[repr(C)]\n#[derive(Clone, Copy)]\npub struct {name} {{\n{fields}}}\n\n"


def callback(name, c):
    returned, taken = re.fullmatch(r"(.*?)\(\*\)\((.*)\)", c).groups()
    note = doc(comment_before(rf"typedef [^;]*\(\*{name}\)"))
    return f"{note}pub type {name} =\n    Option<unsafe extern \"C\" fn({arguments(taken)}){result(returned)}>;\n\n"


def function(node):
    name = node["name"]
    taken = ", ".join(f"{word(p['name'])}: {rust_type(p['type']['qualType'])}" for p in node.get("inner", []) if p["kind"] == "ParmVarDecl")
    returned = node["type"]["qualType"].split("(")[0]
    note = doc(comment_before(rf"SHW_API[^;{{]*?\b{name}\("), "    ")
    must = "    #[must_use]\n" if returned.startswith("shw_status") else ""
    return f"{note}{must}    pub fn {name}({taken}){result(returned)};\n\n"


def macros():
    """Constants that are not enumerators."""
    out = ""
    for name, value in re.findall(r"^#define (SHW_\w+) (\d+)$", TEXT, re.M):
        out += f"pub const {name}: u32 = {value};\n"
    for name, value in re.findall(r"^#define (SHW_\w+) \(\(uint64_t\)(\d+)\)", TEXT, re.M):
        out += f"pub const {name}: u64 = {value};\n"
    return out + ("pub const SHW_API_VERSION: u32 = (SHW_VERSION_MAJOR << 16) | SHW_VERSION_MINOR;\n"
                  "/// No index.\npub const SHW_NONE: usize = usize::MAX;\n\n")


def declarations(ast):
    out = HEAD + ("use std::marker::{PhantomData, PhantomPinned};\nuse std::os::raw::{c_char, c_void};\n\n") + macros()
    bodies, functions, last = dict(STRUCTS), "", "i32"
    for node in ast["inner"]:
        name, kind = node.get("name", ""), node["kind"]
        if kind == "EnumDecl" and node.get("inner", [{}])[0].get("name", "").startswith("SHW_"):
            value = -1
            for e in node["inner"]:
                value = int(e["inner"][0]["value"]) if "inner" in e else value + 1
                out += f"pub const {e['name']}: {last} = {value};\n"
            out += "\n"
        elif not name.startswith("shw_"):
            continue
        elif kind == "TypedefDecl" and node["type"]["qualType"] == "int32_t":
            out += doc(comment_before(rf"typedef int32_t {name};")) + f"pub type {name} = i32;\n"
            last = name
        elif kind == "TypedefDecl" and "(*)" in node["type"]["qualType"]:
            out += callback(name, node["type"]["qualType"])
        elif kind == "RecordDecl" and node.get("completeDefinition"):
            out += struct(node, bodies[name])
        elif kind == "RecordDecl" and name not in bodies:
            out += opaque(name)
        elif kind == "FunctionDecl":
            functions += function(node)
    return out + "functions! {\n" + functions.rstrip("\n") + "\n}\n"


def layout(dump):
    """Sizes and offsets as the C compiler has them, for tests/layout.rs."""
    out = HEAD + "[\n"
    for name, _ in STRUCTS:
        body = re.search(rf"^ +0 \| struct {name}\n(.*?)^ +\| \[sizeof=(\d+)", dump, re.M | re.S)
        fields = re.findall(r"^ +(\d+) \|   (?! )(?:.*?)(\w+)$", body[1], re.M)
        out += f"    layout!({name}, {body[2]}, {', '.join(f'{f}: {at}' for at, f in fields)}),\n"
    return out + "]\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--clang", default="clang")
    options = parser.parse_args()
    made = {"src/declarations.rs": declarations(json.loads(clang(options.clang, "-Xclang", "-ast-dump=json"))),
            "tests/layout.in": layout(clang(options.clang, "-Xclang", "-fdump-record-layouts"))}
    bad = 0
    for file, text in made.items():
        if not options.check:
            (HERE / file).write_text(text)
            continue
        difference = list(difflib.unified_diff((HERE / file).read_text().splitlines(), text.splitlines(), file, "headers", lineterm=""))
        print("\n".join(difference) or f"{file}: as the headers say")
        bad |= bool(difference)
    return bad


if __name__ == "__main__":
    sys.exit(main())
