"""Every example is run, and every name is documented. The code in documents is run by tests/docs."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.mark.parametrize("example", sorted((ROOT / "examples/python").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example: Path, tmp_path):
    done = subprocess.run([sys.executable, "-W", "error", example], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    wanted = {"llama_tiny": "22 tensors, 0 wrong; against expected values, 0 wrong", "gpt2_onnx": "1 tensors, 0 wrong; against expected values, 0 wrong", "train_mlp": "\nloss 0.4",
              "expert_parallel": "largest difference: "}
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
