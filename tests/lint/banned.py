#!/usr/bin/env python3
"""What the library must not call (capi/ABI.md 11, 21): it prints nothing, ends no process, reads no environment, keeps no random state."""
import pathlib, re, sys

BANNED = {
    r"\bv?f?printf\s*\(": "prints", r"\bputs\s*\(|\bputchar\s*\(|\bfputs\s*\(": "prints", r"\bstd::c(out|err|log)\b": "prints",
    r"\bperror\s*\(": "prints", r"\bgetenv\s*\(": "reads the environment",
    r"\b(std::)?abort\s*\(\s*\)": "ends the process", r"\b(std::)?(quick_)?_?exit\s*\(": "ends the process", r"\bstd::terminate\b": "ends the process",
    r"(?<!static_)\bassert\s*\(": "ends the process", r"\bs?rand\s*\(": "keeps global state", r"\bsetlocale\s*\(": "keeps global state",
    r"\b(setjmp|longjmp)\s*\(": "jumps over destructors", r"\bsignal\s*\(": "keeps global state",
}
OURS = {  # our own names that look like banned ones: members and their definitions
    r"(\.|->|(?<!std)::)\s*abort\s*\(", r"\bvoid abort\s*\(\s*\)",
}
root = pathlib.Path(__file__).resolve().parents[2]
bad = 0
for folder in ("src", "capi/src"):
    for f in sorted((root / folder).rglob("*")):
        if f.suffix not in (".h", ".cc", ".cu", ".cuh", ".inc") or f.is_relative_to(root / "src/tools") or f.is_relative_to(root / "src/report/page"):  # programs
            continue
        for number, line in enumerate(f.read_text().splitlines(), 1):
            line = re.sub(r"//.*", "", re.sub(r'"(\\.|[^"\\])*"', '""', line))
            for ours in OURS:
                line = re.sub(ours, "", line)
            for pattern, why in BANNED.items():
                if re.search(pattern, line):
                    print(f"{f.relative_to(root)}:{number}: {why}: {line.strip()}")
                    bad = 1
print("banned calls:", "found" if bad else "none")
sys.exit(bad)
