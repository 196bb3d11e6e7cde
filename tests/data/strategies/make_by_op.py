#!/usr/bin/env python3
"""Makes by_op.txt from the reference's strategies_by_op_1d64_2d8x8.json (autoparallel a54c252, torch 2.14.0, run on meshes
of 64 and 8×8): for every op that this project has, its complete strategy list in order.
usage: make_by_op.py strategies_by_op_1d64_2d8x8.json > by_op.txt
Lines "## KEY", then one strategy a line, in our notation: P for P(sum), M for the mask partial."""
import json, re, sys
OPS = ["mm", "einsum_fwd", "einsum_bwd", "add same", "add bcast1d", "add scalar arg", "mul", "mul bcast", "div", "exp", "neg", "relu",
       "rsqrt", "pow", "sum[2]k", "sum[0,1]", "mean[2]k", "embedding", "embedding_bwd", "permute", "view split", "view flatten last",
       "view flatten batch", "unsqueeze", "expand", "alias", "clone", "convert", "sdpa_eff",
       "where", "cumsum", "cat d0", "slice d1", "split", "split_with_sizes", "layer_norm", "layer_norm_bwd", "full", "iota",
       "gelu", "amax[1]k", "softmax", "softmax_bwd", "log_softmax", "nll_loss_fwd mean", "gather", "scatter.value", "index_select", "select",
       "stack", "t", "_to_copy", "native_dropout", "constant_pad_nd", "full_like", "topk", "bmm", "convolution"]
data = json.load(open(sys.argv[1]))
for mesh in ("1d8", "2d"):  # the file says 1d8, the mesh was 64
    for op in OPS:
        if mesh == "2d" and op in ("full", "iota"):  # a cache of the reference, wrong for a second mesh
            continue
        print(f"## {mesh}/{op}")
        for s in data[f"{mesh}/{op}"]:
            if op in ("full", "iota"):  # their dummy operand
                s = re.sub(r"^\(.*\) ->", "() ->", s)
            print(re.sub(r"MaskP\(sum, torch\.Size\(\[[^]]*\]\), \d+\)", "M", s).replace("P(sum)", "P"))
