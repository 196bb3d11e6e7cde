// sdpa(q, k, v, bias?): softmax(scale · q·kᵀ + bias) · v by head; query heads in a row may share a
// key head. Attributes: is_causal, scale (absent: 1/√width), dropout_p (0). Results: out, lse (log
// of the softmax denominators), and the state of a random generator that is not used: zeros.
// Attribute dims: the order in which the dims of `out` lie.
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/cpu/attention.h"
#include "runtime/cpu/math.h"
#include "runtime/simd.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class Sdpa final : public HostKernel {
 public:
  struct Parts {
    AttentionShape shape;
    HeadOperand<T> q, k, v;
    bool has_bias = false, has_lse = false;
    ScoreBias<T> bias;
    LogSumExp lse;
    HeadResult<T> out;
    size_t output = 0;                              // its place among the buffers
    std::vector<std::pair<size_t, int64_t>> zeros;  // results to clear, and their bytes
  };
  explicit Sdpa(Parts parts) : p_(std::move(parts)) {}

  int64_t workspace_bytes() const override {
    const int64_t scores = kQueryBlock * p_.shape.keys;
    return (p_.q.scratch_elements() + p_.k.scratch_elements() + p_.v.scratch_elements() + scores +
            p_.shape.queries * p_.shape.value_width) *
           static_cast<int64_t>(sizeof(T));
  }

  Status compute(void* const* buffers) noexcept override {
    const size_t workspace = p_.output + num_outputs_;
    auto* q_scratch = static_cast<T*>(buffers[workspace]);
    T* k_scratch = q_scratch + p_.q.scratch_elements();
    T* v_scratch = k_scratch + p_.k.scratch_elements();
    T* scores = v_scratch + p_.v.scratch_elements();
    T* out = scores + kQueryBlock * p_.shape.keys;
    for (const auto& [buffer, bytes] : p_.zeros)
      std::memset(buffers[buffer], 0, static_cast<size_t>(bytes));
    for (int64_t b = 0; b < p_.shape.batch; ++b)
      for (int64_t h = 0; h < p_.shape.heads; ++h) {
        const Matrix<const T> q = p_.q.load(buffers[0], b, h, q_scratch);
        const int64_t shared = h / p_.shape.group();
        const Matrix<const T> k = p_.k.load(buffers[1], b, shared, k_scratch);
        const Matrix<const T> v = p_.v.load(buffers[2], b, shared, v_scratch);
        for (int64_t i = 0; i < p_.shape.queries; i += kQueryBlock)
          do_block(buffers, b, h, i, q, k, v, scores, out);
        if (buffers[p_.output] != nullptr) p_.out.store(out, buffers[p_.output], b, h);
        pad_lse(buffers, b, h);
      }
    return {};
  }

  size_t num_outputs_ = 0;

 private:
  void do_block(void* const* buffers, int64_t b, int64_t h, int64_t first, const Matrix<const T>& q,
                const Matrix<const T>& k, const Matrix<const T>& v, T* scores, T* out) const {
    const AttentionShape& s = p_.shape;
    const int64_t rows = std::min(kQueryBlock, s.queries - first);
    const int64_t keys = s.visible(first, rows);
    gemm<T>({rows,
             keys,
             s.width,
             {q.data + first * q.row_stride, q.row_stride, 1},
             {k.data, 1, k.row_stride},
             {scores, keys, 1}});
    T inverse[kQueryBlock];
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t i = first + r;
      T* row = scores + r * keys;
      const int64_t n = s.visible(i, 1);
      // Without a bias the scale is applied on the way: the largest score stays the largest.
      T scale = static_cast<T>(s.scale);
      if (p_.has_bias || !(scale > 0)) {
        vector_loop(n, [&](int64_t j) { row[j] *= scale; });
        if (p_.has_bias) p_.bias.add(buffers[3], b, h, i, n, row);
        scale = 1;
      }
      const T most = row_max(row, n) * scale;
      // A query that sees nothing: its weights are zero, not 0/0.
      const T shift = most == -std::numeric_limits<T>::infinity() ? T{0} : most;
      vector_loop(n, [&](int64_t j) { row[j] = fast_exp(row[j] * scale - shift); });
      for (int64_t j = n; j < keys; ++j) row[j] = 0;
      const T sum = row_sum(row, n);
      inverse[r] = sum > 0 || sum != sum ? 1 / sum : T{0};
      if (p_.has_lse)
        static_cast<T*>(buffers[p_.output + 1])[p_.lse.offset(b, h, i)] = shift + std::log(sum);
    }
    T* to = out + first * s.value_width;
    gemm<T>({rows, s.value_width, keys, {scores, keys, 1}, v, {to, s.value_width, 1}});
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < s.value_width; ++c) to[r * s.value_width + c] *= inverse[r];
  }

  void pad_lse(void* const* buffers, int64_t b, int64_t h) const {
    if (!p_.has_lse) return;
    for (int64_t i = p_.shape.queries; i < p_.lse.length; ++i)
      static_cast<T*>(buffers[p_.output + 1])[p_.lse.offset(b, h, i)] =
          std::numeric_limits<T>::infinity();
  }

  Parts p_;
};

template <class T>
Prepared prepare_in(const KernelArgs& args) {
  const TensorType &q = *args.inputs[0], &k = *args.inputs[1], &v = *args.inputs[2];
  typename Sdpa<T>::Parts parts;
  SHW_ASSIGN_OR_RETURN(parts.shape, attention_shape(args, q, k, v));
  parts.q = HeadOperand<T>(q);
  parts.k = HeadOperand<T>(k);
  parts.v = HeadOperand<T>(v);
  parts.output = args.inputs.size();
  if (args.inputs.size() > 3 && args.inputs[3] != nullptr) {
    SHW_ASSIGN_OR_RETURN(parts.bias, ScoreBias<T>::create(*args.inputs[3], parts.shape));
    parts.has_bias = true;
  }
  const auto wanted = [&](size_t i) {
    return i < args.outputs.size() && args.outputs[i] != nullptr;
  };
  if (wanted(0)) {
    SHW_ASSIGN_OR_RETURN(const TensorType out, as_heads(args, *args.outputs[0]));
    if (out.shape != Dims{q.shape[0], q.shape[1], q.shape[2], v.shape[3]})
      return bad_types(to_string(out) + " is not the result of this attention");
    parts.out = HeadResult<T>(out);
  }
  if (wanted(1) && args.outputs[1]->numel() > 0) {
    SHW_ASSIGN_OR_RETURN(parts.lse,
                         LogSumExp::create(*args.outputs[1], parts.shape, dense_type<T>(q).dtype));
    parts.has_lse = true;
  }
  for (size_t i = 2; i < args.outputs.size(); ++i)
    if (wanted(i)) {
      if (!args.outputs[i]->contiguous())
        return bad_types("the random state " + to_string(*args.outputs[i]) + " has gaps");
      parts.zeros.emplace_back(parts.output + i, args.outputs[i]->bytes());
    }
  auto kernel = std::make_unique<Sdpa<T>>(std::move(parts));
  kernel->num_outputs_ = args.outputs.size();
  return std::unique_ptr<HostKernel>(std::move(kernel));
}

Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3, 0));
  return with_attention_type(*args.inputs[0],
                             [&](auto t) { return prepare_in<decltype(t)>(args); });
}

}  // namespace

extern const Kernel kSdpa;
constinit const Kernel kSdpa = {"sdpa", prepare};

}  // namespace shw::runtime::cpu
