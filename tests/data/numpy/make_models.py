#!/usr/bin/env python3
"""Makes small models of the families whose ops make_ops.py tests one by one: vit, bert, experts, loss. Each is a graph as a
framework would trace it, with what NumPy says of its results. Read by tests/unit/e2e/numpy_test.cc.
usage: make_models.py FOLDER"""
import math, sys
import numpy as np
from graph_file import GraphFile

MAKER = "make_models.py"


def softmax(a):
    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(f, name, x, w, b):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    rstd = 1 / np.sqrt(var + 1e-5)
    f.node(name, "native_layer_norm", f"{name[:-1]}x,{name}w,{name}b", (x - mean) * rstd * w + b, mean, rstd, normalized_shape=[x.shape[-1]], eps=1e-5)
    return (x - mean) * rstd * w + b


def linear(f, name, x_name, x, w, b):
    """view, mm, add, view: as torch.nn.Linear on [batch, sequence, width] is traced."""
    rows, (k, n) = int(np.prod(x.shape[:-1])), w.shape
    f.node(f"{name}_in", "view", x_name, x.reshape(rows, k), size=[rows, k])
    f.node(f"{name}_mm", "mm", f"{name}_in,{name}_w", x.reshape(rows, k) @ w)
    f.node(f"{name}_add", "add", f"{name}_b,{name}_mm", x.reshape(rows, k) @ w + b)
    return f.node(name, "view", f"{name}_add", x @ w + b, size=list(x.shape[:-1]) + [n])


def split_heads(f, name, of, x, heads):
    b, s, width = x.shape
    f.node(f"{name}_4", "view", of, x.reshape(b, s, heads, -1), size=[b, s, heads, width // heads])
    y = x.reshape(b, s, heads, -1).swapaxes(1, 2)
    d = width // heads
    f.node(f"{name}_t", "transpose", f"{name}_4", y, dim0=1, dim1=2, strides=(s * width, d, width, 1))
    f.node(f"{name}_c", "clone", f"{name}_t", y)
    return f.node(name, "view", f"{name}_c", y.reshape(b * heads, s, d), size=[b * heads, s, d])


def attention(f, p, q, k, v, batch, bias=None):
    """softmax(q·kᵀ/√d + bias)·v of [batch·heads, s, d] tensors, back to [batch, s, width]."""
    bh, s, d = q.shape
    kt = f.node(f"{p}kt", "transpose", f"{p}k", k.swapaxes(1, 2), dim0=1, dim1=2, strides=(s * d, 1, d))
    if bias is None:
        scores = f.node(f"{p}scores", "bmm", f"{p}q,{p}kt", q @ kt)
        scores = f.node(f"{p}scaled", "mul", f"{p}scores,", scores / math.sqrt(d), other=1 / math.sqrt(d))
    else:
        scores = f.node(f"{p}scaled", "baddbmm", f"{p}bias,{p}q,{p}kt", bias + q @ kt / math.sqrt(d), alpha=1 / math.sqrt(d))
    probs = f.node(f"{p}probs", "softmax", f"{p}scaled", softmax(scores), dim=-1)
    out = f.node(f"{p}out", "bmm", f"{p}probs,{p}v", probs @ v)
    heads = bh // batch
    f.node(f"{p}out4", "view", f"{p}out", out.reshape(batch, heads, s, d), size=[batch, heads, s, d])
    y = out.reshape(batch, heads, s, d).swapaxes(1, 2)
    f.node(f"{p}outt", "transpose", f"{p}out4", y, dim0=1, dim1=2, strides=(heads * s * d, d, s * d, 1))
    f.node(f"{p}outc", "clone", f"{p}outt", y)
    return f.node(f"{p}joined", "view", f"{p}outc", y.reshape(batch, s, heads * d), size=[batch, s, heads * d])


def vit(folder):
    """Patches, a class token, one pre-norm block with fused q, k, v, a head on the class token."""
    rng, f = np.random.default_rng(11), GraphFile()
    u = lambda *shape: rng.uniform(-0.5, 0.5, shape)
    kernel, kb = f.given("kernel", u(32, 3, 4, 4), "param"), f.given("kb", u(32), "param")
    cls, pos = f.given("cls", u(1, 1, 32), "param"), f.given("pos", u(1, 16, 32), "param")
    ps = {n: f.given(n, u(*s), "param") for n, s in
          [("anw", (32,)), ("anb", (32,)), ("qkv_w", (32, 96)), ("qkv_b", (96,)), ("proj_w", (32, 32)), ("proj_b", (32,)), ("bnw", (32,)),
           ("bnb", (32,)), ("up_w", (32, 64)), ("up_b", (64,)), ("down_w", (64, 32)), ("down_b", (32,)), ("head_w", (32, 12)), ("head_b", (12,))]}
    image = f.given("image", u(8, 3, 12, 20))
    cols = image.reshape(8, 3, 3, 4, 5, 4).transpose(0, 2, 4, 1, 3, 5).reshape(8, 15, 48)
    patches = (cols @ kernel.reshape(32, 48).T + kb).swapaxes(1, 2)
    f.node("patches", "convolution", "image,kernel,kb", patches.reshape(8, 32, 3, 5), stride=[4, 4])
    f.node("flat", "view", "patches", patches, size=[8, 32, 15])
    tokens = f.node("tokens", "transpose", "flat", patches.swapaxes(1, 2), dim0=1, dim1=2, strides=(480, 1, 15))
    every = f.node("every", "expand", "cls", np.broadcast_to(cls, (8, 1, 32)), size=[8, -1, -1], strides=(0, 32, 1))
    joined = f.node("joined", "cat", "every,tokens", np.concatenate([every, tokens], 1), dim=1)
    x = f.node("ax", "add", "joined,pos", joined + pos)
    normed = layer_norm(f, "an", x, ps["anw"], ps["anb"])
    qkv = linear(f, "qkv", "an_0", normed, ps["qkv_w"], ps["qkv_b"])
    f.node("three", "view", "qkv", qkv.reshape(8, 16, 3, 32), size=[8, 16, 3, 32])
    f.node("parts", "unbind", "three", *[qkv.reshape(8, 16, 3, 32)[:, :, i] for i in range(3)], dim=2, strides=(1536, 96, 1))
    heads = {}
    for i, n in enumerate("qkv"):
        f.node(f"{n}row", "clone", f"parts_{i}", qkv[:, :, 32 * i:32 * i + 32])
        heads[n] = split_heads(f, f"s{n}", f"{n}row", qkv[:, :, 32 * i:32 * i + 32], 4)
    mixed = attention(f, "s", heads["q"], heads["k"], heads["v"], 8)
    proj = linear(f, "proj", "sjoined", mixed, ps["proj_w"], ps["proj_b"])
    x = f.node("bx", "add", "ax,proj", x + proj)
    normed = layer_norm(f, "bn", x, ps["bnw"], ps["bnb"])
    up = linear(f, "up", "bn_0", normed, ps["up_w"], ps["up_b"])
    erf = np.vectorize(math.erf)
    act = f.node("act", "gelu", "up", up * 0.5 * (1 + erf(up / math.sqrt(2))))
    down = linear(f, "down", "act", act, ps["down_w"], ps["down_b"])
    x = f.node("x", "add", "bx,down", x + down)
    first = f.node("first", "select", "x", x[:, 0], dim=1, index=0, strides=(512, 1))
    logits = f.node("logits", "addmm", "head_b,first,head_w", first @ ps["head_w"] + ps["head_b"])
    f.result("logits", logits)
    f.result("x", x)
    f.write(folder + "/vit", MAKER)


def bert(folder):
    """Three embeddings, masked attention, a tanh pooler on the first token, dropout that keeps all."""
    rng, f = np.random.default_rng(12), GraphFile()
    u = lambda *shape: rng.uniform(-0.5, 0.5, shape)
    ps = {n: f.given(n, u(*s), "param") for n, s in
          [("words", (48, 32)), ("places", (16, 32)), ("kinds", (2, 32)), ("anw", (32,)), ("anb", (32,)), ("q0_w", (32, 32)), ("q0_b", (32,)),
           ("k0_w", (32, 32)), ("k0_b", (32,)), ("v0_w", (32, 32)), ("v0_b", (32,)), ("pool_w", (32, 32)), ("pool_b", (32,))]}
    ids, kinds = f.given("ids", rng.integers(0, 48, (8, 16))), f.given("kinds_of", rng.integers(0, 2, (8, 16)))
    length = rng.integers(4, 17, 8)
    mask = f.given("mask", (np.arange(16) < length[:, None]).astype(np.int64))
    numbers = f.node("numbers", "iota", "", np.arange(16), length=16, start=0, step=1)
    words = f.node("w", "embedding", "words,ids", ps["words"][ids])
    places = f.node("p", "embedding", "places,numbers", ps["places"][numbers])
    kind = f.node("k_of", "embedding", "kinds,kinds_of", ps["kinds"][kinds])
    x = f.node("wp", "add", "w,p", words + places)
    x = f.node("ax", "add", "wp,k_of", x + kind)
    x = layer_norm(f, "an", x, ps["anw"], ps["anb"])
    f.node("drop", "native_dropout", "an_0", x, np.ones_like(x, bool), p=0.0)
    padded = f.node("padded", "eq", "mask,", mask == 0, other=0)
    f.node("padded2", "unsqueeze", "padded", padded[:, None], dim=1, strides=(16, 16, 1))
    f.node("padded4", "unsqueeze", "padded2", padded[:, None, None], dim=1, strides=(16, 16, 16, 1))
    zero = f.node("zero", "full", "", np.zeros((8, 4, 16, 16)), size=[8, 4, 16, 16], fill_value=0.0)
    bias4 = f.node("bias4", "masked_fill", "zero,padded4,", np.where(padded[:, None, None], -1e9, zero), value=-1e9)
    bias = f.node("abias", "view", "bias4", bias4.reshape(32, 16, 16), size=[32, 16, 16])
    heads = {}
    for n in "qkv":
        y = linear(f, f"{n}0", "drop_0", x, ps[f"{n}0_w"], ps[f"{n}0_b"])
        heads[n] = split_heads(f, f"a{n}", f"{n}0", y, 4)
    mixed = attention(f, "a", heads["q"], heads["k"], heads["v"], 8, bias)
    x = f.node("x", "add", "drop_0,ajoined", x + mixed)
    first = f.node("first", "select", "x", x[:, 0], dim=1, index=0, strides=(512, 1))
    pooled = f.node("pooled_in", "addmm", "pool_b,first,pool_w", first @ ps["pool_w"] + ps["pool_b"])
    f.result("pooled", f.node("pooled", "tanh", "pooled_in", np.tanh(pooled)))
    f.result("x", x)
    f.write(folder + "/bert", MAKER)


def experts(folder):
    """A router that takes the best two of four experts; all experts on all tokens (bmm), and each on its own (grouped_mm)."""
    rng, f = np.random.default_rng(13), GraphFile()
    u = lambda *shape: rng.uniform(-1, 1, shape)
    t, e, d, h = 24, 4, 16, 32
    router, up, down = (f.given(n, u(*s), "param") for n, s in [("router", (d, e)), ("up", (e, d, h)), ("down", (e, h, d))])
    x = f.given("x", u(t, d))
    scores = f.node("scores", "mm", "x,router", x @ router)
    probs = f.node("probs", "softmax", "scores", softmax(scores), dim=-1)
    order = np.argsort(-probs, 1, kind="stable")[:, :2].copy()
    best = np.take_along_axis(probs, order, 1)
    f.node("top", "topk", "probs", best, order, k=2, dim=-1)
    total = f.node("total", "sum", "top_0", best.sum(1, keepdims=True), dims=[1], keepdim=True)
    share = f.node("share", "div", "top_0,total", best / total)
    # Runs all experts on all tokens and weights the results. Most weights are zero.
    none = f.node("none", "full_like", "probs", np.zeros((t, e)), fill_value=0.0)
    weights = none.copy()
    np.put_along_axis(weights, order, share, 1)
    f.node("weights", "scatter", "none,top_1,share", weights, dim=1)
    f.node("x1", "unsqueeze", "x", x[None], dim=0, strides=(t * d, d, 1))
    xe = f.node("xe", "expand", "x1", np.broadcast_to(x, (e, t, d)), size=[e, t, d], strides=(0, d, 1))
    mid = f.node("mid", "bmm", "xe,up", xe @ up)
    act = f.node("act", "silu", "mid", mid / (1 + np.exp(-mid)))
    out = f.node("out", "bmm", "act,down", act @ down)
    f.node("wt", "t", "weights", weights.T, strides=(1, e))
    f.node("wt3", "unsqueeze", "wt", weights.T[:, :, None], dim=2, strides=(1, e, 1))
    weighted = f.node("weighted", "mul", "out,wt3", out * weights.T[:, :, None])
    f.result("dense", f.node("dense", "sum", "weighted", weighted.sum(0), dims=[0]))
    # Sorts the tokens by expert, computes one grouped product, and adds the results at the tokens' places.
    f.node("chosen", "view", "top_1", order.reshape(-1), size=[2 * t])
    perm = np.argsort(order.reshape(-1), kind="stable")
    by_expert = order.reshape(-1)[perm]
    f.node("sorted", "sort", "chosen", by_expert, perm, dim=0)
    token = f.node("token", "floor_divide", "sorted_1,", perm // 2, other=2)
    names = f.node("names", "iota", "", np.arange(e), length=e, start=0, step=1)
    f.node("names2", "unsqueeze", "names", names[:, None], dim=1, strides=(1, 1))
    match = f.node("match", "eq", "names2,chosen", names[:, None] == order.reshape(-1))
    count = f.node("count", "sum", "match", match.sum(1), dims=[1])
    ends = f.node("ends", "cumsum", "count", count.cumsum(), dim=0)
    rows = f.node("rows", "index_select", "x,token", x[token], dim=0)
    mid, act, outs = [np.zeros((2 * t, n)) for n in (h, h, d)]
    begin = 0
    for k, end in enumerate(ends):
        mid[begin:end] = rows[begin:end] @ up[k]
        act[begin:end] = mid[begin:end] / (1 + np.exp(-mid[begin:end]))
        outs[begin:end] = act[begin:end] @ down[k]
        begin = end
    f.node("mid_g", "grouped_mm", "rows,up,ends", mid)
    f.node("act_g", "silu", "mid_g", act)
    f.node("out_g", "grouped_mm", "act_g,down,ends", outs)
    f.node("share1", "view", "share", share.reshape(-1), size=[2 * t])
    own = f.node("own", "index_select", "share1,sorted_1", share.reshape(-1)[perm], dim=0)
    f.node("own2", "unsqueeze", "own", own[:, None], dim=1, strides=(1, 1))
    scaled = f.node("scaled", "mul", "out_g,own2", outs * own[:, None])
    start = f.node("start", "full_like", "x", np.zeros((t, d)), fill_value=0.0)
    sparse = start.copy()
    np.add.at(sparse, token, scaled)
    f.result("sparse", f.node("sparse", "index_put", "start,scaled,token", sparse, accumulate=True))
    f.write(folder + "/experts", MAKER)


def loss(folder):
    """Cross-entropy as Inductor decomposes it, forward and backward, with the projection to the vocabulary around it."""
    rng, f = np.random.default_rng(14), GraphFile()
    t, d, v = 64, 32, 48
    w = f.given("head", rng.uniform(-1, 1, (d, v)), "param")
    x = f.given("x", rng.uniform(-1, 1, (t, d)))
    target = rng.integers(0, v, t)
    target[::7] = -100
    target = f.given("target", target)
    logits = f.node("logits", "mm", "x,head", x @ w)
    most = f.node("most", "amax", "logits", logits.max(1, keepdims=True), dims=[1], keepdim=True)
    shifted = f.node("shifted", "sub", "logits,most", logits - most)
    e = f.node("e", "exp", "shifted", np.exp(shifted))
    total = f.node("total", "sum", "e", e.sum(1, keepdims=True), dims=[1], keepdim=True)
    log = f.node("log", "log", "total", np.log(total))
    logp = f.node("logp", "sub", "shifted,log", shifted - log)
    counts = f.node("counts", "ne", "target,", target != -100, other=-100)
    zero = f.node("zero", "scalar_tensor", "", np.array(0, np.int64), fill_value=0, dtype="!i64")
    safe = f.node("safe", "where", "counts,target,zero", np.where(counts, target, 0))
    safe2 = f.node("safe2", "unsqueeze", "safe", safe[:, None], dim=1, strides=(1, 1))
    picked = f.node("picked", "gather", "logp,safe2", np.take_along_axis(logp, safe2, 1), dim=1)
    f.node("picked1", "squeeze", "picked", picked[:, 0], dim=1, strides=(1,))
    minus = f.node("minus", "neg", "picked1", -picked[:, 0])
    nothing = f.node("nothing", "scalar_tensor", "", np.array(0.0), fill_value=0.0)
    each = f.node("each", "where", "counts,minus,nothing", np.where(counts, minus, 0))
    n = f.node("n", "sum", "counts", np.array(counts.sum()))
    nf = f.node("nf", "convert_element_type", "n", np.array(float(n)), dtype="!f32")
    s = f.node("s", "sum", "each", np.array(each.sum()))
    f.result("loss", f.node("loss", "div", "s,nf", s / nf))
    # The backward pass of a loss whose gradient is 1.
    grad = f.node("grad", "reciprocal", "nf", 1 / nf)
    counts2 = f.node("counts2", "unsqueeze", "counts", counts[:, None], dim=1, strides=(1, 1))
    scale = f.node("scale", "where", "counts2,grad,nothing", np.where(counts2, grad, 0))
    zeros = f.node("zeros", "full_like", "logits", np.zeros((t, v)), fill_value=0.0)
    hot = zeros.copy()
    np.put_along_axis(hot, safe2, -1.0, 1)
    f.node("hot", "scatter", "zeros,safe2,", hot, dim=1, src=-1.0)
    g = f.node("g", "mul", "hot,scale", hot * scale)
    p = f.node("prob", "exp", "logp", np.exp(logp))
    gs = f.node("gs", "sum", "g", g.sum(1, keepdims=True), dims=[1], keepdim=True)
    pg = f.node("pg", "mul", "prob,gs", p * gs)
    dl = f.node("dl", "sub", "g,pg", g - pg)
    f.node("ht", "permute", "head", w.T, dims=[1, 0], strides=(1, v))
    f.result("dx", f.node("dx", "mm", "dl,ht", dl @ w.T))
    f.node("xt", "permute", "x", x.T, dims=[1, 0], strides=(1, d))
    f.result("dw", f.node("dw", "mm", "xt,dl", x.T @ dl))
    f.write(folder + "/loss", MAKER)


for make in (vit, bert, experts, loss):
    make(sys.argv[1])
