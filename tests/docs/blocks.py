"""The code blocks of a document."""
import dataclasses
import pathlib
import re

LANGUAGES = {"python", "c", "cpp", "rust", "sh", "console", "cmake", "text", "json", "toml"}
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
MARK = re.compile(r"<!-- (file|excerpt of|not run):? (.+?) -->\n$", re.S)


@dataclasses.dataclass
class Block:
    document: pathlib.Path
    line: int  # the number of its first line in the document
    language: str
    text: str
    mark: str  # "file", "excerpt of", "not run" or ""
    value: str  # the value of the mark

    @property
    def place(self):
        return f"{self.document}:{self.line}"


def blocks_of(root, document):
    """All blocks that have a language."""
    text, found = (root / document).read_text(), []
    if len(re.findall("^ *```", text, re.M)) != 2 * len(FENCE.findall(text)):
        raise ValueError(f"{document}: a fence is indented, or not closed")
    for match in FENCE.finditer(text):
        language = match[1].strip()
        if not language:
            continue
        line = text[:match.start()].count("\n") + 2
        if language not in LANGUAGES:
            raise ValueError(f"{document}:{line}: tests/docs does not know the language '{language}'")
        mark = MARK.search(text[:match.start()].rpartition("\n\n")[2])
        found.append(Block(document, line, language, match[2], mark[1] if mark else "", mark[2] if mark else ""))
    return found


def matches(expected, actual, whole):
    """Whether the wanted lines, which may contain …, match an output: all its lines (`whole`), or consecutive lines of it."""
    wanted, lines = [[line.rstrip() for line in text.splitlines()] for text in (expected, actual)]

    def fits(pattern, line):
        return re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), line) is not None

    def from_line(i, j):
        """Whether the output from line j on matches wanted[i:]."""
        if i == len(wanted):
            return not whole or j == len(lines)
        if wanted[i] == "…":
            return any(from_line(i + 1, k) for k in range(j, len(lines) + 1))
        return j < len(lines) and fits(wanted[i], lines[j]) and from_line(i + 1, j + 1)

    return any(from_line(0, j) for j in range(1 if whole else len(lines) + 1))


def refreshed(expected, actual):
    """Returns the expected lines with the numbers from the output's lines that differ only in numbers."""
    def shape(line):
        return re.sub(r"[-+]?\d[\d.]*", "0", " ".join(line.split()))

    lines, made, at = actual.splitlines(), [], 0
    for line in expected.splitlines():
        found = next((i for i in range(at, len(lines)) if shape(lines[i]) == shape(line)), None)
        made.append(line if found is None else lines[found])
        at = at if found is None else found + 1
    return "".join(line + "\n" for line in made)
