#!/usr/bin/env python3
"""Makes ops.swt and ops.safetensors: a graph that uses the ops which no model in examples/data has, its inputs, and what NumPy
says of each result (computed in float64 by formulas written here, rounded once). Read by tests/unit/e2e/numpy_test.cc.
usage: make_ops.py FOLDER"""
import math, sys
import numpy as np
from graph_file import GraphFile

rng = np.random.default_rng(7)
file = GraphFile()
given = file.given


def op(name, kind, operands, *wants, **attrs):
    """Adds a node and returns all its results as outputs of the graph."""
    file.node(name, kind, operands, *wants, **attrs)
    for i, want in enumerate(wants):
        file.result(f"{name}_{i}" if len(wants) > 1 else name, want)


def softmax(a, axis):
    e = np.exp(a - a.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def convolution(x, w, b, stride, padding, groups):
    n, _, *_ = x.shape
    o, cg, kh, kw = w.shape
    p = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    h, v = (p.shape[2] - kh) // stride + 1, (p.shape[3] - kw) // stride + 1
    y = np.zeros((n, o, h, v))
    for k in range(o):
        first = k // (o // groups) * cg
        for i in range(h):
            for j in range(v):
                part = p[:, first:first + cg, i * stride:i * stride + kh, j * stride:j * stride + kw]
                y[:, k, i, j] = (part * w[k]).sum((1, 2, 3)) + b[k]
    return y


erf = np.vectorize(math.erf)
x = given("x", rng.uniform(-2, 2, (8, 16)))
y = given("y", rng.uniform(-2, 2, (8, 16)))
p = given("p", rng.uniform(0.5, 3, (8, 16)))
c = given("c", rng.uniform(-2, 2, (4, 8, 16)))
i = given("i", rng.integers(-20, 20, (8, 16)))
m = given("m", rng.integers(0, 2, (8, 16)).astype(bool))
row = given("row", rng.uniform(0.5, 2, 16))
at = given("at", rng.integers(0, 16, (8, 3)))
places = given("places", rng.integers(0, 8, 5))
classes = given("classes", np.array([3, 15, 0, 7, 7, 2, 9, 11]))
ends = given("ends", np.array([2, 3, 6, 7], np.int32))
w = given("w", rng.uniform(-1, 1, (16, 8)))
many = given("many", rng.uniform(-1, 1, (4, 16, 8)))
image = given("image", rng.uniform(-1, 1, (2, 4, 6, 5)))
kernel = given("kernel", rng.uniform(-1, 1, (6, 2, 3, 3)))
bias = given("bias", rng.uniform(-1, 1, 6))
dimage = given("dimage", rng.uniform(-1, 1, (2, 6, 3, 3)))
one = given("one", np.array(1.5))

# Pointwise
for kind, f, a in [("abs", np.abs, "x"), ("expm1", np.expm1, "x"), ("erf", erf, "x"), ("cos", np.cos, "x"), ("sin", np.sin, "x"),
                   ("floor", np.floor, "x"), ("ceil", np.ceil, "x"), ("round", np.round, "x"), ("sign", np.sign, "x"), ("sqrt", np.sqrt, "p"),
                   ("log", np.log, "p"), ("log1p", np.log1p, "p"), ("reciprocal", lambda v: 1 / v, "p"),
                   ("silu", lambda v: v / (1 + np.exp(-v)), "x"), ("tanh", np.tanh, "x")]:
    op(kind, kind, a, f({"x": x, "p": p}[a]))
phi = 0.5 * (1 + erf(x / math.sqrt(2)))
inner, slope = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3), math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
t = np.tanh(inner)
op("gelu", "gelu", "x", x * phi)
op("gelu_tanh", "gelu", "x", 0.5 * x * (1 + t), approximate="tanh")
op("gelu_backward", "gelu_backward", "y,x", y * (phi + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)))
op("gelu_tanh_backward", "gelu_backward", "y,x", y * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope), approximate="tanh")
s = 1 / (1 + np.exp(-x))
op("silu_backward", "silu_backward", "y,x", y * s * (1 + x * (1 - s)))
op("sigmoid_backward", "sigmoid_backward", "y,x", y * x * (1 - x))
op("tanh_backward", "tanh_backward", "y,x", y * (1 - x * x))
op("logical_not", "logical_not", "i", i == 0)
op("logical_and", "logical_and", "i,m", (i != 0) & m)
op("logical_or", "logical_or", "i,m", (i != 0) | m)
op("bitwise_not", "bitwise_not", "i", ~i)
op("not_true", "bitwise_not", "m", ~m)
op("bitwise_or", "bitwise_or", "i,", i | 5, other=5)
op("maximum", "maximum", "x,row", np.maximum(x, row))
op("minimum", "minimum", "x,y", np.minimum(x, y))
op("remainder", "remainder", "x,p", np.mod(x, p))
op("remainder_i", "remainder", "i,", np.mod(i, -7), other=-7)
op("floor_divide", "floor_divide", "x,p", np.floor(x / p))
op("floor_divide_i", "floor_divide", "i,", i // -7, other=-7)
op("clamp", "clamp", "x", np.clip(x, -0.5, 1), min=-0.5, max=1)
op("masked_fill", "masked_fill", "x,m,", np.where(m, -7.5, x), value=-7.5)
op("masked_fill_t", "masked_fill", "x,m,one", np.where(m, one, x))
op("to_i32", "to_copy", "x", np.trunc(x).astype(np.int32), dtype="!i32")

# Reductions, extremes, norms
op("amax", "amax", "c", c.max(1), dims=[1])
op("amin", "amin", "c", c.min((0, 2), keepdims=True), dims=[0, 2], keepdim=True)
op("prod", "prod", "p", p.prod(1), dims=[1])
op("any", "any", "m", m.any(0), dims=[0])
op("all", "all", "i", (i != 0).all(1), dims=[1])
op("var", "var", "c", c.var((0, 2), ddof=1), dims=[0, 2])
op("var_0", "var", "c", c.var(-1, keepdims=True), dims=[-1], correction=0, keepdim=True)
op("max", "max", "c", c.max(2), c.argmax(2), dim=2)
op("min", "min", "c", c.min(1, keepdims=True), np.expand_dims(c.argmin(1), 1), dim=1, keepdim=True)
op("argmax", "argmax", "c", np.array(c.argmax()))
op("argmin", "argmin", "i", i.argmin(0), dim=0)
rstd = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
op("rms", "fused_rms_norm", "x,row", x * rstd * row, rstd, normalized_shape=[16], eps=1e-5)
g = y * row
op("rms_backward", "fused_rms_norm_backward", "y,x,rms_1,row", rstd * (g - x * rstd * (g * x * rstd).mean(-1, keepdims=True)),
   (y * x * rstd).sum(0), normalized_shape=[16])

# Along a dim
op("softmax", "softmax", "c", softmax(c, 1), dim=1)
op("log_softmax", "log_softmax", "x", np.log(softmax(x, -1)), dim=-1)
sx = softmax(x, -1)
op("sx", "softmax", "x", sx, dim=-1)
op("softmax_backward", "softmax_backward_data", "y,sx", sx * (y - (y * sx).sum(-1, keepdims=True)), dim=-1)
op("log_softmax_backward", "log_softmax_backward_data", "y,log_softmax", y - sx * y.sum(-1, keepdims=True), dim=-1)
op("cumsum", "cumsum", "c", c.cumsum(1), dim=1)
op("cumprod", "cumprod", "p", p.cumprod(1), dim=1)
order = np.argsort(c, 1, kind="stable")
op("sort", "sort", "c", np.take_along_axis(c, order, 1), order, dim=1)
falling = np.argsort(-i, 1, kind="stable")
op("falling", "sort", "i", np.take_along_axis(i, falling, 1), falling, dim=-1, descending=True)
op("topk", "topk", "c", np.take_along_axis(c, order[:, ::-1][:, :3], 1), order[:, ::-1][:, :3].copy(), k=3, dim=1)
op("least", "topk", "c", np.take_along_axis(c, order[:, :2], 1), order[:, :2].copy(), k=2, dim=1, largest=False)

# Look-ups
op("gather", "gather", "x,at", np.take_along_axis(x, at, 1), dim=1)
put = x.copy()
np.put_along_axis(put, at, 9.0, 1)
op("scatter", "scatter", "x,at,", put, dim=1, src=9.0)
last, added = x.copy(), x.copy()
head = y[:, :3]
op("head", "slice", "y", head, dim=1, start=0, end=3, step=1, strides=(16, 1))
for r in range(8):
    for k in range(3):
        last[r, at[r, k]] = head[r, k]
        added[r, at[r, k]] += head[r, k]
op("scatter_src", "scatter", "x,at,head", last, dim=1)
op("scatter_add", "scatter_add", "x,at,head", added, dim=1)
op("index_select", "index_select", "c,places", c[:, places], dim=1)
op("index", "index", "x,places", x[places])
five = y[:5]
op("five", "slice", "y", five, dim=0, start=0, end=5, step=1, strides=(16, 1))
replaced, summed = x.copy(), x.copy()
for k, r in enumerate(places):
    replaced[r] = five[k]
    summed[r] += five[k]
op("index_put", "index_put", "x,five,places", replaced)
op("index_add", "index_put", "x,five,places", summed, accumulate=True)
picked = -row[classes] * x[np.arange(8), classes]
counts = classes != 7
op("loss_each", "nll_loss_forward", "x,classes,row", np.where(counts, picked, 0), np.array(0.0), reduction=0, ignore_index=7)
total = row[classes][counts].sum()
op("loss_sum", "nll_loss_forward", "x,classes,row", np.array(picked[counts].sum()), np.array(total), reduction=2, ignore_index=7)
op("loss_mean", "nll_loss_forward", "x,classes,row", np.array(picked[counts].sum() / total), np.array(total), reduction=1, ignore_index=7)
dloss = np.zeros((8, 16))
dloss[np.arange(8), classes] = np.where(counts, -row[classes] * one / total, 0)
op("loss_backward", "nll_loss_backward", "one,x,classes,row,loss_mean_1", dloss, reduction=1, ignore_index=7)

# Parts
op("select", "select", "c", c[:, -2], dim=1, index=-2, strides=(128, 1))
zeros = np.zeros((8, 4, 16))
zeros[:, 1] = x
op("select_backward", "select_backward", "x", zeros, input_sizes=[8, 4, 16], dim=1, index=1)
changed = c.copy()
changed[2] = x
op("select_scatter", "select_scatter", "c,x", changed, dim=0, index=2)
zeros = np.zeros((8, 40))
zeros[:, 3:-4:2][:, :16] = x
op("slice_backward", "slice_backward", "x", zeros, input_sizes=[8, 40], dim=1, start=3, end=-5, step=2)
changed = c.copy()
changed[:, 0:8:8] = c[:, 3:4]
op("third", "slice", "c", c[:, 3:4], dim=1, start=3, end=4, step=1, strides=(128, 16, 1))
op("slice_scatter", "slice_scatter", "c,third", changed, dim=1, start=0, end=8, step=8)
op("pad", "constant_pad_nd", "x", np.pad(x, ((2, 0), (1, 3)), constant_values=2.5), pad=[1, 3, 2, 0], value=2.5)
op("crop", "constant_pad_nd", "x", np.pad(x, ((0, 1), (0, 0)))[:, 2:-1], pad=[-2, -1, 0, 1])
op("stack", "stack", "x,y", np.stack([x, y], 1), dim=1)
op("unbind", "unbind", "c", *[c[k] for k in range(4)], dim=0, strides=(16, 1))
op("flip", "flip", "c", c[::-1, :, ::-1], dims=[0, 2])
op("repeat", "repeat", "x", np.tile(x, (2, 1, 3)), repeats=[2, 1, 3])
op("transpose", "transpose", "c", c.swapaxes(0, 2), dim0=0, dim1=-1, strides=(1, 16, 128))
op("t", "t", "x", x.T, strides=(1, 16))
op("tril", "tril", "c", np.tril(c))
op("triu", "triu", "x", np.triu(x, 3), diagonal=3)
op("full_like", "full_like", "x", np.full((8, 16), -2.5), fill_value=-2.5)
op("new_full", "new_full", "x", np.full((3, 2), 4.0), size=[3, 2], fill_value=4)
op("dropout_backward", "native_dropout_backward", "x,m", np.where(m, x * 1.25, 0), scale=1.25)

# Products
op("bmm", "bmm", "c,many", c @ many)
op("addmm", "addmm", "one,x,w", 0.5 * one - 2 * (x @ w), beta=0.5, alpha=-2)
op("baddbmm", "baddbmm", "one,c,many", one + c @ many)
op("scaled_mm", "scaled_mm", "x,w,one,one,", (x @ w) * one * one)
rows = np.zeros((8, 8))
terms = np.zeros((4, 8, 8))
begin = 0
for k, end in enumerate(ends):
    rows[begin:end] = x[begin:end] @ many[k]
    terms[k] = x[:, begin:end] @ w[begin:end]
    begin = end
op("by_rows", "grouped_mm", "x,many,ends", rows)
op("by_terms", "grouped_mm", "x,w,ends", terms)
columns = np.zeros((8, 8))
begin = 0
for k, end in enumerate(ends):
    columns[:, begin:end] = c[k] @ w[:, begin:end]
    begin = end
op("by_columns", "grouped_mm", "c,w,ends", columns)
op("by_batches", "grouped_mm", "c,many,", c @ many)
op("convolution", "convolution", "image,kernel,bias", convolution(image, kernel, bias, 2, 1, 2), stride=[2], padding=[1], groups=2)
# The convolution is linear in each operand, so its gradients come from its matrix.
flat_x = np.array([convolution(e.reshape(image.shape), kernel, 0 * bias, 2, 1, 2).ravel() for e in np.eye(image.size)])
flat_w = np.array([convolution(image, e.reshape(kernel.shape), 0 * bias, 2, 1, 2).ravel() for e in np.eye(kernel.size)])
op("convolution_backward", "convolution_backward", "dimage,image,kernel", (flat_x @ dimage.ravel()).reshape(image.shape),
   (flat_w @ dimage.ravel()).reshape(kernel.shape), dimage.sum((0, 2, 3)), stride=[2], padding=[1], groups=2)

file.write(sys.argv[1] + "/ops", "make_ops.py")
