"""Runs the Python blocks of a document as one program, in the venv of the package.

usage: python_blocks.py DOCUMENT LINE...      its path, and the line that each block begins in; the blocks are read from standard input, as JSON

Where a block has `print(error)  # text`, the texts between … must be in what it printed.
"""
import contextlib
import io
import json
import re
import sys

document = sys.argv[1]
sys.path.insert(0, "")  # files that the document wrote
names = {"__name__": "__main__"}
for line, text in zip(map(int, sys.argv[2:]), json.load(sys.stdin), strict=True):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (line - 1) + text, document, "exec"), names)
    print(printed.getvalue(), end="")
    for quoted in re.findall(r"print\(error\)  # (.*)", text):
        for part in re.split(" …, | …|…", quoted):
            part = re.sub(r"^at \w+\.py:\d+$", f"at {document}:", part)
            if part not in printed.getvalue():
                sys.exit(f"{document}:{line}: the comment says\n  {part}\nbut it printed\n  {printed.getvalue()}")
