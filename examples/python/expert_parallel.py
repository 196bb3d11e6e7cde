"""Expert parallelism: each rank has some of the experts, and tokens travel to theirs and back. The exchange is a manual region with
bodies in Python; the graph around it is planned. Forward and backward on 2 × 2 virtual ranks equal those on one rank."""
import numpy as np
import shardwise as sw

TOKENS, WIDTH, EXPERTS = 64, 16, 4


class Exchange:
    """Sends each token to the rank that has its expert, and results back."""

    def __init__(self, group, expert):
        self.group, self.order = group, np.argsort(expert, kind="stable")
        self.counts = np.bincount(expert // (EXPERTS // group.size), minlength=group.size)
        self.received = np.asarray(group.all_to_all(self.counts))  # how many each member will send

    def there(self, rows):
        return np.asarray(self.group.all_to_all_v(rows[self.order], self.counts, self.received))

    def back(self, rows):
        home = np.empty((len(self.order), *rows.shape[1:]), rows.dtype)
        home[self.order] = np.asarray(self.group.all_to_all_v(rows, self.received, self.counts))
        return home


def experts(call, x, expert, w):
    """y[t] = x[t] w[expert[t]], for this rank's tokens; w: of this rank's experts."""
    x, expert, w = map(np.asarray, (x, expert, w))
    exchange = Exchange(call.groups[0], expert)
    rows, local = exchange.there(x), exchange.there(expert) - call.groups[0].member * len(w)
    return exchange.back(np.einsum("tk,tkn->tn", rows, w[local]))


def experts_backward(call, x, expert, dy):
    """dw[e] = the sum of x[t]ᵀ dy[t] over the tokens of this rank's experts: a partial sum, since other data-parallel ranks have others."""
    x, expert, dy = map(np.asarray, (x, expert, dy))
    exchange = Exchange(call.groups[0], expert)
    rows, gradients = exchange.there(x), exchange.there(dy)
    local = exchange.there(expert) - call.groups[0].member * call.outputs[0][0][0]
    dw = np.zeros(call.outputs[0][0], np.float32)
    np.add.at(dw, local, rows[:, :, None] * gradients[:, None, :])
    return dw


def gradient(mesh):
    graph = sw.Graph()
    x, target = graph.input("x", (TOKENS, WIDTH)), graph.input("target", (TOKENS, WIDTH))
    w, router = graph.parameter("w", (EXPERTS, WIDTH, WIDTH)), graph.parameter("router", (WIDTH, EXPERTS))
    expert = sw.ops.argmax(x @ router, dim=1)
    tokens, partial = "S(0)S(0)", "PS(0)"  # over dp and ep
    y = sw.ops.local_map(x, expert, w, region="experts", groups="ep", in_placements=f"{tokens}; {tokens}; RS(0)", out_placements=tokens,
                         result_types=f"f32[{TOKENS},{WIDTH}]")
    dw = sw.ops.local_map(x, expert, y - target, region="experts.backward", groups="ep", in_placements=f"{tokens}; {tokens}; {tokens}",
                          out_placements=partial, result_types=f"f32[{EXPERTS},{WIDTH},{WIDTH}]")
    graph.result(dw, "dw")
    plan = sw.compile(graph, mesh)
    rng = np.random.default_rng(0)
    values = {name: rng.standard_normal(shape, np.float32) for name, shape in
              {"x": (TOKENS, WIDTH), "target": (TOKENS, WIDTH), "w": (EXPERTS, WIDTH, WIDTH), "router": (WIDTH, EXPERTS)}.items()}
    return plan.executor(regions={"experts": experts, "experts.backward": experts_backward}).run(values)["dw"].numpy()


sharded, whole = gradient({"dp": 2, "ep": 2}), gradient({"dp": 1, "ep": 1})
print("largest difference:", np.abs(sharded - whole).max() / np.abs(whole).max())
assert np.allclose(sharded, whole, rtol=1e-4, atol=1e-4)
