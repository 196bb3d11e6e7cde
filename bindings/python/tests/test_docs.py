"""Every code block of the documents is run, and every example."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

README = ROOT / "bindings/python/README.md"
FIRST = ROOT / "README.md"
RUN_BY_THE_DRIVER = {"pip install ./bindings/python"}
"""What tests/python/run.py does before these tests."""


def blocks(language: str, document: Path = README) -> list[tuple[int, str]]:
    """Line and text of each block."""
    text = document.read_text()
    return [(text[:m.start()].count("\n") + 2, m[1]) for m in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)]


def test_the_blocks_of_the_readme_run(tmp_path, monkeypatch, capsys):
    """One after another, as one program; what a comment says of an error's text is what it prints."""
    monkeypatch.chdir(tmp_path)
    names = {"EXAMPLES": str(ROOT / "examples")}
    found = blocks("python")
    assert len(found) >= 6
    for line, text in found:
        capsys.readouterr()
        exec(compile("\n" * (line - 1) + text, str(README), "exec"), names)
        printed = capsys.readouterr().out
        for quoted in re.findall(r"print\(error\)  # (.*)", text):
            for part in re.split(" …, | …", quoted):
                part = re.sub(r"^at model.py:\d+$", f"at {README}:", part)
                assert part in printed, (quoted, printed)


def test_the_block_of_the_first_readme_runs():
    ((line, text),) = blocks("python", FIRST)
    names: dict[str, object] = {}
    exec(compile("\n" * (line - 1) + text, str(FIRST), "exec"), names)
    assert names["y"].shape == (64, 512) and names["y"].tolist()[0][0] == 64  # type: ignore[attr-defined]


def test_other_blocks_are_what_the_driver_runs():
    assert {line for _, text in blocks("sh") for line in text.splitlines()} == RUN_BY_THE_DRIVER
    assert len(re.findall("^```", README.read_text(), re.M)) == 2 * (len(blocks("python")) + len(blocks("sh")))


@pytest.mark.parametrize("example", sorted((ROOT / "examples/python").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example: Path, tmp_path):
    done = subprocess.run([sys.executable, "-W", "error", example], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    wanted = {"llama_tiny": "22 tensors, 0 wrong; against expected values, 0 wrong", "train_mlp": "\nloss 0.4"}
    assert wanted[example.stem] in done.stdout


def test_the_llama_example_has_ten_lines():
    lines = (ROOT / "examples/python/llama_tiny.py").read_text().splitlines()
    code = [line for line in lines if line.strip() and not line.startswith('"""')]
    assert len(code) <= 10


def test_every_public_name_has_a_docstring():
    import inspect

    import shardwise as sw

    lacking = []
    for name in sw.__all__:
        thing = getattr(sw, name)
        members = [(f"{name}.{m}", v) for m, v in vars(thing).items() if not m.startswith("_")] if inspect.isclass(thing) else []
        for where, what in [(name, thing), *members]:
            if (callable(what) or isinstance(what, property)) and not inspect.getdoc(what):
                lacking.append(where)
    assert not lacking
