#include "runtime/cuda/plugin/attention_graph.h"

#include <algorithm>
#include <limits>

#include "runtime/cuda/plugin/flash.h"

namespace shw::runtime::cuda {
namespace {

using Value = CudnnGraph::Value;

constexpr int64_t kElementBytes = 2;  // of f16 and bf16
constexpr float kUnseen = -std::numeric_limits<float>::infinity();

CudnnType type_of(const AttentionArguments& a) {
  return a.q.dtype == kDeviceBF16 ? kCudnnBF16 : kCudnnF16;
}

bool sees_all_behind(const AttentionArguments& a) { return a.left >= a.queries - 1; }
bool is_causal(const AttentionArguments& a) { return a.right == 0; }

bool is_there(const HeadWindow& w) { return w.dtype != 0; }

bool has_packed_lse(const AttentionArguments& a) {
  return a.lse_length == a.queries && a.lse_row == 1 && (a.heads == 1 || a.lse_head == a.queries) &&
         (a.batch == 1 || a.lse_batch == a.heads * a.queries);
}

// Common parts of the forward and the backward graph.
class Attention {
 public:
  Attention(const Cudnn& api, const AttentionArguments& a)
      : graph(std::make_unique<CudnnGraph>(api)), a_(a) {}

  std::unique_ptr<CudnnGraph> graph;

  GraphTensor in_heads(const HeadWindow& w, int64_t heads, int64_t rows, int64_t width) const {
    GraphTensor t{type_of(a_), {a_.batch, heads, rows, width}, {}};
    int64_t extent = 1;
    for (size_t d = 0; d < t.strides.size(); ++d) {
      t.strides[d] = w.stride[d] / kElementBytes;
      extent = std::max(extent, t.sizes[d] * t.strides[d]);
    }
    // The stride of a dim of size 1 is arbitrary. Use the one that the dim would have as the
    // outermost.
    for (size_t d = 0; d < t.strides.size(); ++d)
      if (t.sizes[d] == 1) t.strides[d] = extent;
    return t;
  }
  GraphTensor q() const { return in_heads(a_.q, a_.heads, a_.queries, a_.width); }
  GraphTensor k() const { return in_heads(a_.k, a_.key_heads, a_.keys, a_.width); }
  GraphTensor v() const { return in_heads(a_.v, a_.key_heads, a_.keys, a_.value_width); }
  GraphTensor out() const { return in_heads(a_.out, a_.heads, a_.queries, a_.value_width); }
  // Tensors with a number for each query, or for each pair of a query and a key.
  GraphTensor row() const {
    return GraphTensor::packed(kCudnnF32, {a_.batch, a_.heads, a_.queries, 1});
  }
  GraphTensor scores(CudnnType type = kCudnnF32) const {
    return GraphTensor::packed(type, {a_.batch, a_.heads, a_.queries, a_.keys});
  }

  Value pointwise(CudnnPointwiseMode mode, std::initializer_list<Value> operands,
                  const GraphTensor& type) const {
    const Value to = graph->between(type);
    graph->pointwise(mode, operands, to);
    return to;
  }
  Value matmul(Value a, Value b, const GraphTensor& type) const {
    const Value to = graph->between(type);
    graph->matmul(a, b, to);
    return to;
  }
  Value reduce(CudnnReductionMode mode, Value from, const GraphTensor& type) const {
    const Value to = graph->between(type);
    graph->reduce(mode, from, to);
    return to;
  }
  Value reshape(Value from, const GraphTensor& type) const {
    const Value to = graph->between(type);
    graph->reshape(from, to);
    return to;
  }
  Value scaled(Value score) const {
    const Value scale = graph->number(static_cast<float>(a_.scale));
    return pointwise(kCudnnMul, {score, scale}, scores());
  }
  Value masked(Value score) const {
    if (!is_causal(a_)) return score;
    const Value query = graph->between(scores(kCudnnI32)), key = graph->between(scores(kCudnnI32));
    graph->positions(score, 2, query);
    graph->positions(score, 3, key);
    const Value seen = pointwise(kCudnnGreaterOrEqual, {query, key}, scores(kCudnnBool));
    return pointwise(kCudnnSelect, {score, graph->number(kUnseen), seen}, scores());
  }

 private:
  const AttentionArguments& a_;
};

}  // namespace

bool is_attention_graph(const AttentionArguments& a) {
  return fits_flash(a) && is_there(a.out) && a.has_bias == 0 && a.batch > 0 && a.key_heads > 0 &&
         a.heads > 0 && a.heads % a.key_heads == 0 && a.value_width == a.width &&
         sees_all_behind(a) && (is_causal(a) || a.right >= a.keys - 1) &&
         (a.lse_length == 0 || has_packed_lse(a));
}

bool is_attention_graph(const AttentionBackwardArguments& p) {
  return is_attention_graph(p.forward) && fits_flash(p) && has_packed_lse(p.forward) &&
         !is_there(p.dbias) && is_there(p.dq) && is_there(p.dk) && is_there(p.dv);
}

std::unique_ptr<CudnnGraph> attention_graph(const Cudnn& api, const AttentionArguments& a,
                                            bool has_lse) {
  Attention on(api, a);
  CudnnGraph& g = *on.graph;
  const Value q = g.in_memory(on.q()), k = g.in_memory(on.k().transposed()),
              v = g.in_memory(on.v()), out = g.in_memory(on.out());
  const Value lse = has_lse ? g.in_memory(on.row()) : g.between(on.row());
  const Value score = on.masked(on.scaled(on.matmul(q, k, on.scores())));
  const Value most = on.reduce(kCudnnMax, score, on.row());
  const Value power =
      on.pointwise(kCudnnExp, {on.pointwise(kCudnnSub, {score, most}, on.scores())}, on.scores());
  const Value sum = on.reduce(kCudnnSum, power, on.row());
  g.pointwise(kCudnnAdd, {most, on.pointwise(kCudnnLog, {sum}, on.row())}, lse);
  g.matmul(on.pointwise(kCudnnDiv, {power, sum}, on.scores(type_of(a))), v, out);
  return std::move(on.graph);
}

std::unique_ptr<CudnnGraph> attention_gradient_graph(const Cudnn& api,
                                                     const AttentionBackwardArguments& p) {
  const AttentionArguments& a = p.forward;
  Attention on(api, a);
  CudnnGraph& g = *on.graph;
  const CudnnType type = type_of(a);
  const Value q = g.in_memory(on.q()), k = g.in_memory(on.k().transposed()),
              v = g.in_memory(on.v().transposed()), out = g.in_memory(on.out());
  const Value grad = g.in_memory(on.in_heads(p.grad, a.heads, a.queries, a.value_width));
  const Value lse = g.in_memory(on.row());
  const Value dq = g.in_memory(on.in_heads(p.dq, a.heads, a.queries, a.width));
  const Value dk = g.in_memory(on.in_heads(p.dk, a.key_heads, a.keys, a.width));
  const Value dv = g.in_memory(on.in_heads(p.dv, a.key_heads, a.keys, a.value_width));
  const Value delta = g.in_memory(on.row());
  const Value dq_sum =
      g.in_memory(GraphTensor::packed(kCudnnF32, {a.batch, a.heads, a.queries, a.width}));
  // For each query: rowsum(grad ∘ out).
  const GraphTensor row_of_out =
      GraphTensor::packed(kCudnnF32, {a.batch, a.heads, a.queries, a.value_width});
  const Value product =
      on.reduce(kCudnnSum, on.pointwise(kCudnnMul, {grad, out}, row_of_out), on.row());
  g.pointwise(kCudnnMul, {product, g.number(1)}, delta);
  // The probabilities, and the gradient of the values: a sum over the heads that share them.
  const Value score = on.scaled(on.matmul(q, k, on.scores()));
  const Value power = on.pointwise(
      kCudnnExp, {on.masked(on.pointwise(kCudnnSub, {score, lse}, on.scores()))}, on.scores());
  const GraphTensor by_keys =
      GraphTensor::packed(type, {a.batch, a.heads, a.queries, a.keys}).transposed();
  const auto add_heads = [&](Value left, Value right, int64_t width, Value to) {
    if (a.heads == a.key_heads) return g.matmul(left, right, to);
    const GraphTensor all = GraphTensor::packed(type, {a.batch, a.heads, a.keys, width});
    g.reduce(kCudnnSum, on.matmul(left, right, all), to);
  };
  add_heads(on.reshape(power, by_keys), grad, a.value_width, dv);
  // The gradient of the scores; of the keys; of the queries.
  const Value back = on.matmul(grad, v, on.scores());
  const Value less = on.pointwise(kCudnnSub, {back, delta}, on.scores());
  const Value dscore = on.scaled(on.pointwise(kCudnnMul, {less, power}, on.scores()));
  add_heads(on.reshape(dscore, by_keys), q, a.width, dk);
  g.matmul(dscore, on.reshape(k, on.k()), dq_sum);
  g.pointwise(kCudnnCopy, {dq_sum}, dq);
  return std::move(on.graph);
}

}  // namespace shw::runtime::cuda
