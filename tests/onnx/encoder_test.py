#!/usr/bin/env python3
"""An encoder, as PyTorch's two exporters write it, from ONNX through the tool: planned and run on 1, 2 and 4 ranks, against PyTorch.

usage: encoder_test.py SHARDWISE_BINARY PROJECT_DIR
"""
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

EXE, DATA = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve() / "tests/data/onnx"
TMP = pathlib.Path(tempfile.mkdtemp())
INPUTS = DATA / "encoder.safetensors"


def floats(path, name):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    row = json.loads(data[8:8 + length])[name]
    begin, end = (8 + length + at for at in row["data_offsets"])
    return struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])


class Encoder(unittest.TestCase):
    def shardwise(self, *args, code=0):
        done = subprocess.run([EXE, *map(str, args)], text=True, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def import_model(self, model, sizes):
        graph = TMP / "encoder.swgraph"
        self.shardwise("import", "--from", "onnx", DATA / model, "--sizes", sizes, "-o", graph)
        return graph

    def expect_pytorchs(self, graph, plan_options, run_options=()):
        plan, out = TMP / "encoder.swplan", TMP / "out.safetensors"
        self.shardwise("plan", graph, *plan_options, "-o", plan)
        # The inputs file has PyTorch's result: verification compares with it, and with the unsharded run.
        self.shardwise("run", plan, "--virtual-ranks", "--inputs", INPUTS, "--inputs", graph.with_suffix(".safetensors"), "--outputs", out,
                       "--verify", *run_options)
        want, got = floats(INPUTS, "output.pooled"), floats(out, "output.pooled")
        self.assertEqual(len(want), len(got))
        error = math.dist(want, got) / math.hypot(*want)
        self.assertLess(error, 5e-7, plan_options)

    def test_both_exporters_on_every_mesh(self):
        for model in ("encoder_dynamo.onnx", "encoder_torchscript.onnx"):
            graph = self.import_model(model, "batch=4,sequence=12")
            self.expect_pytorchs(graph, ["--mesh", "dp=1"])
            self.expect_pytorchs(graph, ["--mesh", "dp=2", "--input-layout", "S(0)"])
            self.expect_pytorchs(graph, ["--mesh", "dp=2,tp=2", "--input-layout", "S(0)R"])

    def test_open_sizes_become_symbols(self):
        buckets = ["--mesh", "dp=2", "--buckets", "batch=4,8", "--buckets", "sequence=12,32"]
        graph = self.import_model("encoder_dynamo.onnx", "batch=2..64,sequence=2..32")
        self.expect_pytorchs(graph, buckets, ["--size", "batch=3", "--size", "sequence=9"])
        graph = self.import_model("encoder_torchscript.onnx", "batch=2..64/2,sequence=12")
        self.expect_pytorchs(graph, ["--mesh", "dp=2", "--buckets", "batch=4"], ["--size", "batch=4"])
        self.assertIn("symbol", self.shardwise("show", graph))

    def test_refusals(self):
        model = DATA / "encoder_dynamo.onnx"
        start = ["import", "--from", "onnx", model, "-o", TMP / "x.swgraph"]
        self.assertIn("leaves these sizes open: 'batch', 'sequence'", self.shardwise(*start, code=1))
        self.assertIn("no open size 'bach'", self.shardwise(*start, "--sizes", "batch=4,sequence=2,bach=1", code=1))
        self.assertIn("expected NAME=SIZE", self.shardwise(*start, "--sizes", "batch=many", code=1))
        self.assertIn("is no ONNX model", self.shardwise("import", "--from", "onnx", INPUTS, "-o", TMP / "x.swgraph", code=1))
        self.assertIn("ONNX is not available: the plug-in libshardwise_onnx.so, which is built where protobuf's development files are",
                      self.shardwise(*start, "--onnx-plugin", TMP / "none.so", code=1))
        self.assertIn("is no ONNX plug-in", self.shardwise(*start, "--onnx-plugin", "libz.so.1", code=1))
        self.assertFalse((TMP / "x.swgraph").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
