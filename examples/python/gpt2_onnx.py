"""GPT-2 from an ONNX file: planned, run on 8 virtual ranks, and compared with PyTorch's logits for the same weights and tokens."""
import pathlib

import shardwise as sw

data = pathlib.Path(__file__).resolve().parents[1] / "data"
graph, weights = sw.load_onnx(data / "gpt2_tiny.onnx", sizes={"batch": 8, "sequence": 16})
plan = sw.compile(graph, mesh={"dp": 2, "tp": 4})
tensors = sw.load_tensors(data / "gpt2_tiny_onnx.safetensors")  # tokens, and PyTorch's logits
inputs = {**weights, "input.tokens": tensors["input.tokens"]}
results = plan.executor().run(inputs)
print(plan, plan.verify(inputs, results, expected={"output.logits": tensors["output.logits"]}), sep="\n")
