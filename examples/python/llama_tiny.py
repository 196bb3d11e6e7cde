"""A small LLaMA that PyTorch traced: planned, run on 8 virtual ranks, and compared with PyTorch's numbers for the same weights."""
import pathlib

import shardwise as sw

data = pathlib.Path(__file__).resolve().parents[1] / "data"
plan = sw.compile(sw.load(data / "llama_tiny_2x4.graph.pre.json.gz"), mesh={"dp": 2, "tp": 4}, hardware="h100")
tensors = sw.load_tensors(data / "llama_tiny_f32.safetensors")
inputs = plan.inputs_of(tensors)
results = plan.executor().run(inputs)
print(plan, plan.verify(inputs, results, expected=plan.outputs_of(tensors)), sep="\n")
