"""Runs a notebook's cells as Jupyter would, in the venv of the package, and compares their outputs with the stored ones.

usage: notebook.py NOTEBOOK [--write]      --write: stores the outputs
"""
import ast
import contextlib
import io
import json
import pathlib
import sys

path = pathlib.Path(sys.argv[1])
notebook = json.loads(path.read_text())
names = {"__name__": "__main__"}


def run(source):
    """The outputs of a cell, as notebooks store them."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, path.name, "exec"), names)
        value = None if last is None else eval(compile(last, path.name, "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append({"data": data, "metadata": {}, "output_type": "execute_result"})
    return outputs


cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
changed = []
for number, cell in enumerate(cells, 1):
    outputs = run("".join(cell["source"]))
    for output in outputs:
        if output["output_type"] == "execute_result":
            output["execution_count"] = number
    if cell["outputs"] != outputs:
        changed.append(f"cell {number} stores\n{json.dumps(cell['outputs'], indent=1)}\nand gives\n{json.dumps(outputs, indent=1)}")
    cell["outputs"], cell["execution_count"] = outputs, number
if "--write" in sys.argv:
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
elif changed or not cells:
    sys.exit(f"{path}: write its outputs again: tests/docs/notebook.py {path} --write\n" + "\n".join(changed))
