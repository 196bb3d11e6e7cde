#!/usr/bin/env python3
"""Draws the forward pass of one LLaMA-3 8B layer as the planner distributes it over 64 GPUs: examples/llama_layer.svg.

usage: draw_layer.py SHARDWISE_BINARY OUT.svg

Plans examples/data/llama8b_L2_8x8_einsum.graph.pre.json.gz for dp=8,tp=8 and reads what `shardwise show` prints about the first layer:
layouts from the planner's decisions (`--json`), collectives from the per-rank program (`--program`).
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from drawing import Drawing

GRAPH = pathlib.Path(__file__).parent / "data/llama8b_L2_8x8_einsum.graph.pre.json.gz"
LAYER = "layers.0."
COLLECTIVES = ("all_gather", "all_to_all", "collective_permute", "reduce_scatter", "all_reduce")
MOVES = COLLECTIVES + ("clone", "local_slice", "dtype_cast", "convert_element_type")  # steps that compute nothing
# What is drawn on one level: modules of the layer, and a caption.
STAGES = [(["attention_norm"], ""), (["attention.wq", "attention.wk", "attention.wv"], "matmuls"),
          (["attention.sdpa"], "attention"), (["attention.wo"], "matmul"), (["ffn_norm"], ""),
          (["feed_forward.w1", "feed_forward.w3"], "matmuls, SwiGLU"), (["feed_forward.w2"], "matmul")]


def tool(*args):
    done = subprocess.run([sys.argv[1], *map(str, args)], text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"shardwise {' '.join(map(str, args))}: {done.stderr}")
    return done.stdout


def plan():
    with tempfile.TemporaryDirectory() as folder:
        graph, made = pathlib.Path(folder, "graph"), pathlib.Path(folder, "plan")
        tool("import", "--from", "fx-json", GRAPH, "-o", graph)
        tool("plan", graph, "--mesh", "dp=8,tp=8", "--hardware", "h100", "--input-layout", "S(0)R", "--output-layout", "S(0)S(2)",
             "--grad-reduce-dtype", "f32", "-o", made)
        return json.loads(tool("show", made, "--json")), tool("show", made, "--program")


class Program:
    """The steps of the per-rank program by the storages that they read and write."""

    def __init__(self, text):
        self.steps, self.maker, self.inputs = [], {}, {}
        for name, layout, where in re.findall(r"^  (param\.\S+): \S+ as (\S+) = %\d+: \S+@(in\d+)$", text, re.M):
            self.inputs[where] = (name.replace("._checkpoint_wrapped_module", "").removeprefix("param."), layout)
        for line in text.partition("\n steps\n")[2].splitlines():
            made, found, call = line.partition(" = ")
            if not found:
                continue
            op, dims = re.match(r"(\w+)(?:\.\w+)?(\[[\w,]+\])?", call).groups()
            step = (op + (dims or ""), re.findall(r"@(\w+)", call))
            self.steps.append(step)
            self.maker |= {s: step for s in re.findall(r"@(\w+)", made)}

    def trace(self, storage):
        """Back to what computed a value: that step or input, and the collectives on the way."""
        collectives = []
        while storage in self.maker and self.maker[storage][0].split("[")[0] in MOVES:
            op, read = self.maker[storage]
            if op.startswith(COLLECTIVES):
                collectives.insert(0, op)
            storage = read[0]
        return self.inputs.get(storage, self.maker.get(storage)), collectives

    def users(self, origin):
        """The steps that compute with what `origin` made, and the collectives in between."""
        for step in self.steps:
            if step[0].split("[")[0] not in MOVES:
                for storage in step[1]:
                    made_by, collectives = self.trace(storage)
                    if made_by == origin:
                        yield step, collectives


class Layer:
    def __init__(self, plan_json, program):
        self.program = program
        self.decisions = {}
        for d in plan_json["decisions"]:
            path = d["module_path"].replace("__dict__['_modules']['_checkpoint_wrapped_module']", "").replace("..", ".")
            path = path.removeprefix("_export_root.")
            if d["phase"] == "forward" and path.startswith(LAYER):
                self.decisions.setdefault(path.removeprefix(LAYER), []).append(d)
        self.parameters = {name.removeprefix(LAYER).removesuffix(".weight"): (name, layout)
                           for name, layout in program.inputs.values() if name.startswith(LAYER)}

    def decision(self, module):
        ops = {"attention.sdpa": "sdpa", "attention_norm": "mul", "ffn_norm": "mul"}
        return [d for d in self.decisions[module] if d["op"] == ops.get(module, "einsum")][-1]

    def step(self, module):
        if module in self.parameters:
            return next(self.program.users(self.parameters[module]))[0]
        return next(s for s in self.program.steps if s[0] == "sdpa")


SPINE, ROW, BOX = 640, 34, 190  # x of the activations, height of a module, width of its box


def edge(d, collectives, layout, after):
    """Down the spine: the layout that a stage leaves, the collectives, the layout that the next one reads."""
    length = 34 + 44 * len(collectives)
    d.arrow(SPINE, d.y, SPINE, d.y + length)
    d.code(SPINE + 12, d.y + 17, layout, anchor="start")
    for i, c in enumerate(collectives):
        d.pill(SPINE, d.y + 44 + 44 * i, c)
    if collectives:
        d.code(SPINE + 12, d.y + length - 10, after, anchor="start")
    d.y += length


def weight(d, layer, module, y):
    name, stored = layer.parameters[module]
    _, collectives = next(layer.program.users((name, stored)))
    d.box(16, y + 4, 270, ROW - 8, "#e3f0e6", "#4c8a5a")
    d.code(24, y + 21, module.split(".")[-1] + ".weight", anchor="start", size=12)
    d.code(278, y + 21, stored, anchor="end", size=12)
    d.arrow(286, y + ROW / 2, SPINE - BOX / 2, y + ROW / 2)
    for c in collectives:
        d.pill(372, y + ROW / 2, c)
    d.code(SPINE - BOX / 2 - 46, y + 12, layer.decision(module)["operands"].split(", ")[-1], size=12)


def draw(layer):
    d = Drawing()
    d.text(16, 28, "One layer of LLaMA-3 8B, forward, planned for 64 H100s as dp=8 × tp=8", 17, "start", "bold")
    d.text(16, 50, "A layout has one placement per mesh dim, dp first: S(d) is sharded on tensor dim d, R replicated, P a partial sum.", 12, "start")
    d.text(16, 66, "|1,0 means that tp cuts the dim before dp does. Orange: collectives, with the mesh dims that they run over.", 12, "start")
    d.text(16, 94, "parameters, as stored", 13, "start", "bold")
    d.text(SPINE, 94, "activations [batch, sequence, features]", 13, "middle", "bold")
    d.y, before, layout = 104, None, layer.decision("attention_norm")["operands"].split(", ")[0]
    for modules, caption in STAGES:
        step, decision = layer.step(modules[0]), layer.decision(modules[0])
        collectives = []
        if before is not None:
            collectives = next((c for s in step[1] for made_by, c in [layer.program.trace(s)] if c and made_by not in layer.program.inputs.values()), [])
        edge(d, collectives, layout, decision["operands"].split(", ")[0])
        height = ROW * len(modules)
        d.box(SPINE - BOX / 2, d.y, BOX, height, "#dfe9f7", "#3b6ea8")
        for i, m in enumerate(modules):
            d.text(SPINE - BOX / 2 + 10, d.y + ROW * i + 22, m.split(".")[-1], 13, "start", "bold")
            if m in layer.parameters:
                weight(d, layer, m, d.y + ROW * i)
        d.text(SPINE + BOX / 2 - 10, d.y + height / 2 + 5, caption, 12, "end")
        d.y += height
        layout, before = decision["result"].lstrip("(").split(", ")[0], step
        if modules == ["attention.sdpa"]:
            layout += " of [batch, heads, …]"
        if modules == ["attention.wo"]:
            layout += " + residual"
    add = next(c for s, c in layer.program.users(before) if s[0] == "add")
    residual = [x for x in layer.decisions[""] if x["op"] == "add"][-1]
    edge(d, add, layout, residual["result"])
    d.text(SPINE, d.y + 16, "added to the residual stream", 12)
    return d.svg(900, int(d.y + 30))


plan_json, text = plan()
pathlib.Path(sys.argv[2]).write_text(draw(Layer(plan_json, Program(text))))
