// sdpa_backward(grad, q, k, v, bias?, out, lse, seed, offset, documents?): the gradients of q, k, v
// and, if needed, of the bias. Attributes as for sdpa. The scores are recomputed. With
//   p = exp(scale·q·kᵀ + bias − lse),  delta = rowsum(grad ∘ out),  ds = p ∘ (grad·vᵀ − delta)
// the gradients are dq = scale·ds·k, dk = scale·dsᵀ·q, dv = pᵀ·grad, dbias = ds.
// With a dropout (attention_dropout.h) that multiplies the weights by m, dv = (p ∘ m)ᵀ·grad and
// ds = p ∘ (m ∘ grad·vᵀ − delta). The mask m is drawn again, with the forward step's `seed`.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/cpu/attention.h"
#include "runtime/cpu/codegen/math.h"
#include "runtime/cpu/query_block.h"
#include "runtime/cpu/row_sums.h"
#include "runtime/simd.h"

namespace shw::runtime::cpu {
namespace {

constexpr size_t kGrad = 0;
constexpr size_t kQ = 1;
constexpr size_t kK = 2;
constexpr size_t kV = 3;
constexpr size_t kBias = 4;
constexpr size_t kOut = 5;
constexpr size_t kLse = 6;
constexpr size_t kDocuments = 9;  // 7 and 8 are the seed of the dropout and an offset of 0
enum Res : size_t { kDq, kDk, kDv, kDbias };

template <class T>
struct Parts {
  AttentionShape shape;
  HeadOperand<T> grad, q, k, v, out;
  TransposedOperand<T> keys, values;
  bool has_bias = false, wants_dbias = false;
  ScoreBias<T> bias;
  VisibleKeys visible;
  LogSumExp lse;
  AttentionDropout dropout;
  HeadResult<T> result[3];  // dq, dk, dv
  StoreRow<T> store_dbias = nullptr;
  Dims dbias_bytes;  // strides
  size_t num_inputs = 0, num_outputs = 0;
};

// Scratch memory for one head.
template <class T>
struct Scratch {
  T *grad, *q, *k, *v, *keys, *values, *out, *dq, *dk, *dv, *scores, *ds;
};

template <class T>
class SdpaBackward final : public HostKernel {
 public:
  explicit SdpaBackward(Parts<T> parts) : p_(std::move(parts)) {}

  int64_t workspace_bytes() const override {
    Scratch<T> unused;
    return p_.visible.scratch_bytes() + carve(nullptr, unused) * static_cast<int64_t>(sizeof(T));
  }

  Status compute(void* const* buffers) override {
    const AttentionShape& s = p_.shape;
    Scratch<T> m;
    auto* ends = static_cast<std::byte*>(buffers[p_.num_inputs + p_.num_outputs]);
    carve(reinterpret_cast<T*>(ends + p_.visible.scratch_bytes()), m);
    u64 seed = 0;
    if (p_.dropout.is_there()) std::memcpy(&seed, buffers[kAttentionDrawnSeed], sizeof(seed));
    for (int64_t b = 0; b < s.batch; ++b) {
      if (p_.visible.has_documents())
        SHW_RETURN_IF_ERROR(p_.visible.turn_to(b, buffers[kDocuments], ends));
      KeyHead shared;
      for (int64_t h = 0; h < s.heads; ++h) {
        const Head head{b,
                        h,
                        seed,
                        p_.grad.load(buffers[kGrad], b, h, m.grad),
                        p_.q.load(buffers[kQ], b, h, m.q),
                        p_.out.load(buffers[kOut], b, h, m.out),
                        p_.result[kDq].place(result_buffer(buffers, kDq), b, h, m.dq)};
        // Gradients of keys and values add up over the query heads that share them.
        if (h % s.group() == 0) {
          shared = load_keys(buffers, b, h / s.group(), m);
          std::memset(m.dk, 0, static_cast<size_t>(s.keys * s.width) * sizeof(T));
          std::memset(m.dv, 0, static_cast<size_t>(s.keys * s.value_width) * sizeof(T));
        }
        for (int64_t i = 0; i < p_.visible.queries(); i += kQueryBlock)
          do_block(buffers, head, shared, i, m);
        clear_unseeing(buffers, head);
        p_.result[kDq].store(head.dq, result_buffer(buffers, kDq), b, h);
        if ((h + 1) % s.group() != 0) continue;
        store(buffers, kDk, m.dk, b, h / s.group());
        store(buffers, kDv, m.dv, b, h / s.group());
      }
    }
    return {};
  }

 private:
  struct Head {
    int64_t b, h;
    u64 seed;  // of the dropout
    Matrix<const T> grad, q, out;
    Matrix<T> dq;
  };
  // Data that query heads share.
  struct KeyHead {
    Matrix<const T> k{}, keys{}, values{};  // keys, values: transposed
  };

  KeyHead load_keys(void* const* buffers, int64_t b, int64_t h, const Scratch<T>& m) const {
    const Matrix<const T> k = p_.k.load(buffers[kK], b, h, m.k);
    const Matrix<const T> v = p_.v.load(buffers[kV], b, h, m.v);
    return {k, p_.keys.make(k, p_.shape.keys, m.keys), p_.values.make(v, p_.shape.keys, m.values)};
  }

  // Assigns the scratch memory from `base` on (without accessing it), and returns its number of
  // elements.
  int64_t carve(T* base, Scratch<T>& m) const {
    const AttentionShape& s = p_.shape;
    int64_t used = 0;
    const auto take = [&](T*& part, int64_t elements) {
      part = base == nullptr ? nullptr : base + used;
      used += elements;
    };
    take(m.grad, p_.grad.scratch_elements());
    take(m.q, p_.q.scratch_elements());
    take(m.k, p_.k.scratch_elements());
    take(m.v, p_.v.scratch_elements());
    take(m.keys, p_.keys.scratch_elements());
    take(m.values, p_.values.scratch_elements());
    take(m.out, p_.out.scratch_elements());
    take(m.dq, s.queries * s.width);
    take(m.dk, s.keys * s.width);
    take(m.dv, s.keys * s.value_width);
    take(m.scores, kQueryBlock * p_.visible.most_keys(kQueryBlock));
    take(m.ds, kQueryBlock * p_.visible.most_keys(kQueryBlock));
    return used;
  }

  void store(void* const* buffers, size_t r, const T* dense, int64_t b, int64_t h) const {
    if (void* to = result_buffer(buffers, r); to != nullptr) p_.result[r].store(dense, to, b, h);
  }

  void* result_buffer(void* const* buffers, size_t r) const {
    return r < p_.num_outputs ? buffers[p_.num_inputs + r] : nullptr;
  }

  static Matrix<const T> rows_of(const Matrix<const T>& x, int64_t first) {
    return {x.data + first * x.row_stride, x.row_stride, x.column_stride};
  }

  // Columns from `first` on.
  static Matrix<const T> columns_of(const Matrix<const T>& x, int64_t first) {
    return {&x.at(0, first), x.row_stride, x.column_stride};
  }

  void do_block(void* const* buffers, const Head& head, const KeyHead& shared, int64_t first,
                const Scratch<T>& m) const {
    const AttentionShape& s = p_.shape;
    const int64_t rows = std::min(kQueryBlock, p_.visible.queries() - first);
    const QueryBlock<T> block(p_.visible, first, rows, p_.wants_dbias);
    const KeyRange keys = block.keys();
    const int64_t n = keys.size();
    const Matrix<const T> q = rows_of(head.q, first), grad = rows_of(head.grad, first);
    const Matrix<T> dk{m.dk + keys.begin * s.width, s.width, 1},
        dv{m.dv + keys.begin * s.value_width, s.value_width, 1};
    block.times_keys(q, columns_of(shared.keys, keys.begin), s.width, m.scores);
    for (int64_t r = 0; r < rows; ++r) weights(buffers, head, first + r, keys, m.scores + r * n);
    const T* kept = m.scores;
    if (p_.dropout.is_there()) {
      drop(head, first, rows, keys, m.scores, m.ds);
      kept = m.ds;
    }
    block.add_queries(kept, grad, s.value_width, dv);
    block.times_keys(grad, columns_of(shared.values, keys.begin), s.value_width, m.ds);
    if (p_.dropout.is_there()) drop(head, first, rows, keys, m.ds, m.ds);
    T delta[kQueryBlock];
    for (int64_t r = 0; r < rows; ++r)
      delta[r] = row_product(&grad.at(r, 0), &head.out.at(first + r, 0), s.value_width);
    for (int64_t r = 0; r < rows; ++r)
      score_gradient(buffers, head, first + r, keys, delta[r], m.scores + r * n, m.ds + r * n);
    block.sum_keys(m.ds, rows_of(shared.k, keys.begin), s.width,
                   {&head.dq.at(first, 0), head.dq.row_stride, 1});
    block.add_queries(m.ds, q, s.width, dk);
  }

  // Replaces query i's scores of `keys` by the softmax weights.
  void weights(void* const* buffers, const Head& head, int64_t i, KeyRange keys, T* scores) const {
    const KeyRange own = p_.visible.of(i);
    const int64_t n = own.size();
    T* row = scores + (own.begin - keys.begin);
    T scale = static_cast<T>(p_.shape.scale);
    if (p_.has_bias) {
      vector_loop(n, [&](int64_t j) { row[j] *= scale; });
      p_.bias.add(buffers[kBias], head.b, head.h, i, own, row);
      scale = 1;
    }
    const T lse = static_cast<const T*>(buffers[kLse])[p_.lse.offset(head.b, head.h, i)];
    // A query that sees no keys has no weights.
    const T shift =
        lse == -std::numeric_limits<T>::infinity() ? std::numeric_limits<T>::infinity() : lse;
    const int64_t whole = whole_vectors<T>(n, keys.end - own.begin);
    long_vector_loop(whole, [=](int64_t j) { row[j] = fast_exp(row[j] * scale - shift); });
    std::fill(scores, row, T{0});
    std::fill(row + n, scores + keys.size(), T{0});
  }

  // Applies the dropout to what belongs to `rows` queries, from `first` on, and to `keys`.
  void drop(const Head& head, int64_t first, int64_t rows, KeyRange keys, const T* from,
            T* to) const {
    const int64_t n = keys.size();
    for (int64_t r = 0; r < rows; ++r)
      drop_weights(p_.dropout, head.seed, p_.dropout.place(head.b, head.h, first + r, keys.begin),
                   n, from + r * n, to + r * n);
  }

  // Replaces a row of grad·vᵀ by that of scale·ds.
  void score_gradient(void* const* buffers, const Head& head, int64_t i, KeyRange keys, T delta,
                      const T* weight, T* row) const {
    const T scale = static_cast<T>(p_.shape.scale);
    if (!p_.wants_dbias) {
      vector_loop(keys.size(), [&](int64_t j) { row[j] = weight[j] * (row[j] - delta) * scale; });
      return;
    }
    vector_loop(keys.size(), [&](int64_t j) { row[j] = weight[j] * (row[j] - delta); });
    store_dbias(buffers, head, i, keys, row);
    vector_loop(keys.size(), [&](int64_t j) { row[j] *= scale; });
  }

  // Clears the gradients of queries outside of all documents, and of their scores.
  void clear_unseeing(void* const* buffers, const Head& head) const {
    const int64_t seeing = p_.visible.queries(), all = p_.shape.queries;
    for (int64_t i = seeing; i < all; ++i) std::fill_n(&head.dq.at(i, 0), p_.shape.width, T{0});
    for (int64_t i = seeing; p_.wants_dbias && i < all; ++i)
      store_dbias(buffers, head, i, {}, nullptr);
  }

  // Query i's gradients of the scores of `keys`, and zeros for all other keys.
  void store_dbias(void* const* buffers, const Head& head, int64_t i, KeyRange keys,
                   const T* row) const {
    auto* to = static_cast<std::byte*>(result_buffer(buffers, kDbias)) +
               head.b * p_.dbias_bytes[0] + head.h * p_.dbias_bytes[1] + i * p_.dbias_bytes[2];
    const int64_t step = p_.dbias_bytes[3];
    const T zero = 0;
    for (int64_t j = 0; j < keys.begin; ++j) p_.store_dbias(&zero, 1, to + j * step, step);
    p_.store_dbias(row, keys.size(), to + keys.begin * step, step);
    for (int64_t j = keys.end; j < p_.shape.keys; ++j)
      p_.store_dbias(&zero, 1, to + j * step, step);
  }

  Parts<T> p_;
};

template <class T>
Status prepare_results(const KernelArgs& args, Parts<T>& parts) {
  const auto wanted = [&](size_t i) {
    return i < args.outputs.size() && args.outputs[i] != nullptr;
  };
  for (size_t r = kDq; r <= kDv; ++r) {
    const TensorType& of = *args.inputs[kQ + r];
    parts.result[r] = HeadResult<T>(of);
    if (!wanted(r)) continue;
    SHW_ASSIGN_OR_RETURN(const TensorType type, as_heads(args, *args.outputs[r]));
    if (type.shape != of.shape)
      return bad_types(to_string(type) + " is not the gradient of " + to_string(of));
    parts.result[r] = HeadResult<T>(type);
  }
  if (!wanted(kDbias)) return {};
  const AttentionShape& s = parts.shape;
  const TensorType& type = *args.outputs[kDbias];
  if (type.shape != Dims{s.batch, s.heads, s.queries, s.keys} || !is_floating(type.dtype))
    return unimplemented("the gradient of an attention bias that is broadcast, " + to_string(type));
  parts.wants_dbias = true;
  parts.store_dbias = store_row<T>(type.dtype);
  parts.dbias_bytes = broadcast_strides_bytes(type, type.shape);
  return {};
}

template <class T>
[[gnu::cold]] Prepared prepare_in(const KernelArgs& args) {
  const TensorType &grad = *args.inputs[kGrad], &q = *args.inputs[kQ], &v = *args.inputs[kV];
  Parts<T> parts;
  SHW_ASSIGN_OR_RETURN(parts.shape, attention_shape(args, q, *args.inputs[kK], v));
  const AttentionShape& s = parts.shape;
  const Dims out{s.batch, s.heads, s.queries, s.value_width};
  if (grad.shape != out || args.inputs[kOut]->shape != out)
    return bad_types("the gradient " + to_string(grad) + " and the result " +
                     to_string(*args.inputs[kOut]) + " are not those of this attention");
  parts.grad = HeadOperand<T>(grad);
  parts.q = HeadOperand<T>(q);
  parts.k = HeadOperand<T>(*args.inputs[kK]);
  parts.v = HeadOperand<T>(v);
  parts.keys = TransposedOperand<T>(s.keys, s.width, s.queries * s.group());
  parts.values = TransposedOperand<T>(s.keys, s.value_width, s.queries * s.group());
  parts.out = HeadOperand<T>(*args.inputs[kOut]);
  if (args.inputs[kBias] != nullptr) {
    SHW_ASSIGN_OR_RETURN(parts.bias, ScoreBias<T>::create(*args.inputs[kBias], s));
    parts.has_bias = true;
  }
  const bool has_documents = args.inputs.size() > kDocuments;
  SHW_RETURN_IF_ERROR(parts.visible.prepare(s, has_documents ? args.inputs[kDocuments] : nullptr));
  SHW_ASSIGN_OR_RETURN(parts.dropout, attention_dropout(args, s));
  if (parts.dropout.is_there()) SHW_RETURN_IF_ERROR(check_drawn_seed(args));
  SHW_ASSIGN_OR_RETURN(parts.lse, LogSumExp::create(*args.inputs[kLse], s, dense_type<T>(q).dtype));
  if (parts.lse.length == 0 && s.queries > 0)
    return bad_types("the softmax denominators are missing");
  SHW_RETURN_IF_ERROR(prepare_results(args, parts));
  parts.num_inputs = args.inputs.size();
  parts.num_outputs = args.outputs.size();
  return make_kernel<SdpaBackward<T>>(std::move(parts));
}

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  const auto there = [&](size_t i) { return i < args.inputs.size() && args.inputs[i] != nullptr; };
  for (size_t i : {kGrad, kQ, kK, kV, kOut, kLse})
    if (!there(i))
      return invalid_argument("sdpa_backward lacks operand " + std::to_string(i) +
                              " of (grad, q, k, v, bias, out, lse)");
  return with_attention_type(*args.inputs[kQ],
                             [&](auto t) { return prepare_in<decltype(t)>(args); });
}

}  // namespace

extern const Kernel kSdpaBackward;
constinit const Kernel kSdpaBackward = {"sdpa_backward", prepare};

}  // namespace shw::runtime::cpu
