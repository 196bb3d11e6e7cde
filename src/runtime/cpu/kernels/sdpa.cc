// sdpa(q, k, v, bias?, documents?, run_seed?): softmax(scale · q·kᵀ + bias) · v for each head, over
// the keys that a query sees (visible_keys.h). Consecutive query heads may share a key head.
// Attributes: is_causal, window_left, window_right, scale (absent: 1/√width), dropout_p (0), and
// dims: the order of the dims of `out` in memory. Results: out, lse (log of the softmax
// denominators), and two integers: the seed of the dropout (attention_dropout.h; 0 without
// dropout), and 0.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/cpu/attention.h"
#include "runtime/cpu/draw.h"
#include "runtime/cpu/query_block.h"
#include "runtime/simd.h"

namespace shw::runtime::cpu {
namespace {

constexpr size_t kQ = 0;
constexpr size_t kK = 1;
constexpr size_t kV = 2;
constexpr size_t kBias = 3;
constexpr size_t kDocuments = 4;

template <class T>
class Sdpa final : public HostKernel {
 public:
  struct Parts {
    AttentionShape shape;
    HeadOperand<T> q, k, v;
    TransposedOperand<T> keys;
    bool has_bias = false, has_lse = false;
    ScoreBias<T> bias;
    VisibleKeys visible;
    LogSumExp lse;
    AttentionDropout dropout;
    StepSeed seed;  // of the dropout
    bool returns_seed = false;
    HeadResult<T> out;
    size_t output = 0;                              // number of the output buffer
    std::vector<std::pair<size_t, int64_t>> zeros;  // results to clear, with their sizes in bytes
  };
  explicit Sdpa(Parts parts) : p_(std::move(parts)) {}

  int64_t workspace_bytes() const override {
    const int64_t scores = kQueryBlock * p_.visible.most_keys(kQueryBlock);
    return p_.visible.scratch_bytes() +
           (p_.q.scratch_elements() + p_.k.scratch_elements() + p_.v.scratch_elements() +
            p_.keys.scratch_elements() + scores + p_.shape.queries * p_.shape.value_width) *
               static_cast<int64_t>(sizeof(T));
  }

  Status compute(void* const* buffers) override {
    auto* ends = static_cast<std::byte*>(buffers[p_.output + num_outputs_]);
    T* q_scratch = reinterpret_cast<T*>(ends + p_.visible.scratch_bytes());
    T* k_scratch = q_scratch + p_.q.scratch_elements();
    T* v_scratch = k_scratch + p_.k.scratch_elements();
    T* keys_scratch = v_scratch + p_.v.scratch_elements();
    T* scores = keys_scratch + p_.keys.scratch_elements();
    T* out_scratch = scores + kQueryBlock * p_.visible.most_keys(kQueryBlock);
    for (const auto& [buffer, bytes] : p_.zeros)
      std::memset(buffers[buffer], 0, static_cast<size_t>(bytes));
    const u64 seed = p_.dropout.is_there() ? seed_in_run(p_.seed, buffers) : 0;
    if (p_.returns_seed)
      std::memcpy(buffers[p_.output + kAttentionSeedResult], &seed, sizeof(seed));
    for (int64_t b = 0; b < p_.shape.batch; ++b) {
      if (p_.visible.has_documents())
        SHW_RETURN_IF_ERROR(p_.visible.turn_to(b, buffers[kDocuments], ends));
      Matrix<const T> keys{}, v{};  // of the heads that share them
      for (int64_t h = 0; h < p_.shape.heads; ++h) {
        const Matrix<const T> q = p_.q.load(buffers[kQ], b, h, q_scratch);
        if (h % p_.shape.group() == 0) {
          const int64_t shared = h / p_.shape.group();
          const Matrix<const T> k = p_.k.load(buffers[kK], b, shared, k_scratch);
          keys = p_.keys.make(k, p_.shape.keys, keys_scratch);
          v = p_.v.load(buffers[kV], b, shared, v_scratch);
        }
        const Matrix<T> out = p_.out.place(buffers[p_.output], b, h, out_scratch);
        for (int64_t i = 0; i < p_.visible.queries(); i += kQueryBlock)
          do_block(buffers, {b, h, seed}, i, q, keys, v, scores, out);
        finish(buffers, b, h, out);
        p_.out.store(out, buffers[p_.output], b, h);
      }
    }
    return {};
  }

  size_t num_outputs_ = 0;

 private:
  struct Head {
    int64_t b, h;
    u64 seed;  // of the dropout
  };
  void do_block(void* const* buffers, const Head& head, int64_t first, const Matrix<const T>& q,
                const Matrix<const T>& all_keys, const Matrix<const T>& v, T* scores,
                const Matrix<T>& out) const {
    const AttentionShape& s = p_.shape;
    const int64_t rows = std::min(kQueryBlock, p_.visible.queries() - first);
    const QueryBlock<T> block(p_.visible, first, rows);
    const KeyRange keys = block.keys();
    const int64_t n = keys.size();
    block.times_keys({q.data + first * q.row_stride, q.row_stride, 1},
                     {&all_keys.at(0, keys.begin), all_keys.row_stride, all_keys.column_stride},
                     s.width, scores);
    T inverse[kQueryBlock];
    for (int64_t r = 0; r < rows; ++r)
      inverse[r] = weigh(buffers, head, first + r, keys, scores + r * n);
    const Matrix<T> to{&out.at(first, 0), out.row_stride, 1};
    const Matrix<const T> values{v.data + keys.begin * v.row_stride, v.row_stride, 1};
    block.sum_keys(scores, values, s.value_width, to);
    for (int64_t r = 0; r < rows; ++r)
      vector_loop(s.value_width,
                  [row = &to.at(r, 0), factor = inverse[r]](int64_t c) { row[c] *= factor; });
  }

  // Replaces query i's scores of `keys` by weights that still have to be multiplied by the returned
  // factor.
  T weigh(void* const* buffers, const Head& head, int64_t i, KeyRange keys, T* scores) const {
    const auto [b, h, seed] = head;
    const KeyRange own = p_.visible.of(i);
    const int64_t n = own.size();
    T* row = scores + (own.begin - keys.begin);
    T scale = static_cast<T>(p_.shape.scale), lse = 0;
    if (p_.has_bias) {
      vector_loop(n, [&](int64_t j) { row[j] *= scale; });
      p_.bias.add(buffers[kBias], b, h, i, own, row);
      scale = 1;
    }
    const T inverse = softmax_weights(row, n, keys.end - own.begin, scale, lse);
    std::fill(scores, row, T{0});
    if (p_.dropout.is_there())
      drop_weights(p_.dropout, seed, p_.dropout.place(b, h, i, own.begin), n, row, row);
    if (p_.has_lse) set_lse(buffers, b, h, i, lse);
    return inverse;
  }

  void set_lse(void* const* buffers, int64_t b, int64_t h, int64_t i, T value) const {
    static_cast<T*>(buffers[p_.output + 1])[p_.lse.offset(b, h, i)] = value;
  }

  // Fills the rows of queries outside of all documents, and the elements of lse after the last
  // query.
  void finish(void* const* buffers, int64_t b, int64_t h, const Matrix<T>& out) const {
    const int64_t seeing = p_.visible.queries(), all = p_.shape.queries;
    for (int64_t i = seeing; i < all; ++i) std::fill_n(&out.at(i, 0), p_.shape.value_width, T{0});
    if (!p_.has_lse) return;
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    for (int64_t i = seeing; i < all; ++i) set_lse(buffers, b, h, i, -kInfinity);
    for (int64_t i = all; i < p_.lse.length; ++i) set_lse(buffers, b, h, i, kInfinity);
  }

  Parts p_;
};

template <class T>
[[gnu::cold]] Prepared prepare_in(const KernelArgs& args) {
  const TensorType &q = *args.inputs[kQ], &k = *args.inputs[kK], &v = *args.inputs[kV];
  const auto given = [&](size_t i) { return i < args.inputs.size() ? args.inputs[i] : nullptr; };
  typename Sdpa<T>::Parts parts;
  SHW_ASSIGN_OR_RETURN(parts.shape, attention_shape(args, q, k, v));
  parts.q = HeadOperand<T>(q);
  parts.k = HeadOperand<T>(k);
  parts.v = HeadOperand<T>(v);
  parts.keys = TransposedOperand<T>(parts.shape.keys, parts.shape.width,
                                    parts.shape.queries * parts.shape.group());
  parts.output = args.inputs.size();
  if (const TensorType* bias = given(kBias)) {
    SHW_ASSIGN_OR_RETURN(parts.bias, ScoreBias<T>::create(*bias, parts.shape));
    parts.has_bias = true;
  }
  SHW_RETURN_IF_ERROR(parts.visible.prepare(parts.shape, given(kDocuments)));
  SHW_ASSIGN_OR_RETURN(parts.dropout, attention_dropout(args, parts.shape));
  SHW_ASSIGN_OR_RETURN(parts.seed, attention_seed(args));
  const auto wanted = [&](size_t i) {
    return i < args.outputs.size() && args.outputs[i] != nullptr;
  };
  const Dims shape{q.shape[0], q.shape[1], q.shape[2], v.shape[3]};
  parts.out = HeadResult<T>(row_major(dense_type<T>(q).dtype, shape));
  if (wanted(0)) {
    SHW_ASSIGN_OR_RETURN(const TensorType out, as_heads(args, *args.outputs[0]));
    if (out.shape != shape)
      return bad_types(to_string(out) + " is not the result of this attention");
    parts.out = HeadResult<T>(out);
  }
  if (wanted(1) && args.outputs[1]->numel() > 0) {
    SHW_ASSIGN_OR_RETURN(parts.lse,
                         LogSumExp::create(*args.outputs[1], parts.shape, dense_type<T>(q).dtype));
    parts.has_lse = true;
  }
  parts.returns_seed = parts.dropout.is_there() && wanted(kAttentionSeedResult);
  if (parts.returns_seed)
    SHW_RETURN_IF_ERROR(check_drawn_seed(*args.outputs[kAttentionSeedResult]));
  for (size_t i = kAttentionSeedResult; i < args.outputs.size(); ++i)
    if (wanted(i)) {
      if (!args.outputs[i]->contiguous())
        return bad_types("the random state " + to_string(*args.outputs[i]) + " has gaps");
      parts.zeros.emplace_back(parts.output + i, args.outputs[i]->bytes());
    }
  auto kernel = std::make_unique<Sdpa<T>>(std::move(parts));
  kernel->num_outputs_ = args.outputs.size();
  return std::unique_ptr<HostKernel>(std::move(kernel));
}

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3, 0));
  return with_attention_type(*args.inputs[0],
                             [&](auto t) { return prepare_in<decltype(t)>(args); });
}

}  // namespace

extern const Kernel kSdpa;
constinit const Kernel kSdpa = {"sdpa", prepare};

}  // namespace shw::runtime::cpu
