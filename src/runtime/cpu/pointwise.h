// Pointwise kernels with broadcasting: an operation on values makes a kernel on tensors.
//
// An operation is a small functor over the compute types of rows.h that it can do. Rows are taken
// in chunks that stay in the first-level cache: operands that are not already plain rows of the
// compute type are converted into a buffer first, so that there is one flat loop per operation and
// type, which the compiler vectorises.
#pragma once
#include <algorithm>
#include <optional>
#include <type_traits>

#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/rows.h"
#include "runtime/simd.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {

inline constexpr int64_t kPointwiseChunk = 512;

// One operand, or the result, of a pointwise kernel as rows of T.
template <class T>
struct RowAccess {
  LoadRow<T> load = nullptr;
  StoreRow<T> store = nullptr;
  int64_t stride_bytes = 0;
  bool direct = false;  // memory holds plain rows of T
  bool scalar() const { return stride_bytes == 0; }

  RowAccess() = default;
  RowAccess(Dtype dtype, int64_t stride)
      : load(load_row<T>(dtype)),
        store(store_row<T>(dtype)),
        stride_bytes(stride),
        direct(stored_as_is<T>(dtype) && stride == static_cast<int64_t>(sizeof(T))) {}
};

template <class T, class Op, size_t N>
class PointwiseKernel final : public HostKernel {
 public:
  PointwiseKernel(const Op& op, const StridedLoop& loop, const std::array<Dtype, N + 1>& dtypes)
      : op_(op), loop_(loop) {
    for (size_t o = 0; o <= N; ++o) rows_[o] = {dtypes[o], loop.row_stride_bytes[o]};
  }

  Status compute(void* const* buffers) noexcept override {
    std::array<std::byte*, N + 1> p;  // the result, then the operands
    p[0] = static_cast<std::byte*>(buffers[result_]);
    for (size_t o = 0; o < N; ++o) p[o + 1] = static_cast<std::byte*>(buffers[operands_[o]]);
    for_each_row(loop_, p, [this](const auto& rows) { do_row(rows); });
    return {};
  }

  // Places of the result and the operands among the step's buffers.
  size_t result_ = 0;
  std::array<size_t, N> operands_{};

 private:
  using Chunk = T[kPointwiseChunk];

  void do_row(const std::array<std::byte*, N + 1>& p) const {
    Chunk in[N], out;
    const T* row[N];
    for (size_t o = 0; o < N; ++o)
      if (rows_[o + 1].scalar()) {
        rows_[o + 1].load(p[o + 1], 0, 1, in[o]);
        row[o] = in[o];
      }
    for (int64_t i = 0; i < loop_.row_size; i += kPointwiseChunk) {
      const int64_t n = std::min(kPointwiseChunk, loop_.row_size - i);
      for (size_t o = 0; o < N; ++o) {
        const RowAccess<T>& access = rows_[o + 1];
        if (access.scalar()) continue;
        std::byte* from = p[o + 1] + i * access.stride_bytes;
        if (access.direct) {
          row[o] = reinterpret_cast<const T*>(from);
        } else {
          access.load(from, access.stride_bytes, n, in[o]);
          row[o] = in[o];
        }
      }
      std::byte* to = p[0] + i * rows_[0].stride_bytes;
      T* result = rows_[0].direct ? reinterpret_cast<T*>(to) : out;
      do_chunk(row, n, result);
      if (!rows_[0].direct) rows_[0].store(out, n, to, rows_[0].stride_bytes);
    }
  }

  void do_chunk(const T* const* row, int64_t n, T* out) const {
    const Op op = op_;
    if constexpr (N == 1) {
      const T* a = row[0];
      if (rows_[1].scalar())
        std::fill_n(out, n, op(a[0]));
      else
        vector_loop(n, [=](int64_t i) { out[i] = op(a[i]); });
    } else if constexpr (N == 3) {
      const T *a = row[0], *b = row[1], *c = row[2];
      const int64_t u = !rows_[1].scalar(), v = !rows_[2].scalar(), w = !rows_[3].scalar();
      vector_loop(n, [=](int64_t i) { out[i] = op(a[u * i], b[v * i], c[w * i]); });
    } else {
      const T* a = row[0];
      const T* b = row[1];
      if (rows_[1].scalar() && rows_[2].scalar()) {
        std::fill_n(out, n, op(a[0], b[0]));
      } else if (rows_[1].scalar()) {
        const T x = a[0];
        vector_loop(n, [=](int64_t i) { out[i] = op(x, b[i]); });
      } else if (rows_[2].scalar()) {
        const T y = b[0];
        vector_loop(n, [=](int64_t i) { out[i] = op(a[i], y); });
      } else {
        vector_loop(n, [=](int64_t i) { out[i] = op(a[i], b[i]); });
      }
    }
  }

  Op op_;
  StridedLoop loop_;
  std::array<RowAccess<T>, N + 1> rows_;
};

// The kernel of `op` over the tensors that are inputs number `inputs` of the step. UNIMPLEMENTED
// where `op` is not defined on the compute type of the result.
// Computed as results of dtype `compute` are; if not given, as this one is.
template <size_t N, class Op>
Prepared prepare_pointwise(const KernelArgs& args, const std::array<size_t, N>& inputs,
                           const Op& op, std::optional<Dtype> compute = {}) {
  const TensorType& out = *args.outputs[0];
  std::array<Dtype, N + 1> dtypes{out.dtype};
  std::array<Dims, N + 1> strides{broadcast_strides_bytes(out, out.shape)};
  for (size_t o = 0; o < N; ++o) {
    const TensorType& in = *args.inputs[inputs[o]];
    if (!broadcasts_to(in.shape, out.shape))
      return bad_types(to_string(in) + " does not broadcast to " + to_string(out));
    dtypes[o + 1] = in.dtype;
    strides[o + 1] = broadcast_strides_bytes(in, out.shape);
  }
  const StridedLoop loop = make_loop(out.shape, strides);
  return with_compute_type(compute.value_or(out.dtype), [&](auto t) -> Prepared {
    using T = decltype(t);
    constexpr bool defined = N == 1   ? std::is_invocable_r_v<T, Op, T>
                             : N == 2 ? std::is_invocable_r_v<T, Op, T, T>
                                      : std::is_invocable_r_v<T, Op, T, T, T>;
    if constexpr (defined) {
      auto kernel = std::make_unique<PointwiseKernel<T, Op, N>>(op, loop, dtypes);
      kernel->result_ = args.inputs.size();
      kernel->operands_ = inputs;
      return std::unique_ptr<HostKernel>(std::move(kernel));
    } else {
      return unimplemented("the CPU backend cannot do this in " +
                           std::string(dtype_name(out.dtype)));
    }
  });
}

template <class Op>
Prepared prepare_unary(const KernelArgs& args, const Op& op) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  return prepare_pointwise(args, std::array<size_t, 1>{0}, op);
}

// A number among the attributes, in a compute type.
struct Scalar {
  double number = 0;
  int64_t integer = 0;
  template <class T>
  T as() const {
    if constexpr (std::is_same_v<T, Int>)
      return {integer};
    else if constexpr (std::is_same_v<T, Complex>)
      return {static_cast<float>(number), 0};
    else
      return static_cast<T>(number);
  }
};
Scalar scalar_attr(const Attrs& attrs, AttrKey key, int64_t otherwise);

// Op with one side fixed.
template <class Op>
struct WithLeft {
  Op op;
  Scalar left;
  template <class T>
  requires std::is_invocable_v<Op, T, T> T operator()(T b) const { return op(left.as<T>(), b); }
};
template <class Op>
struct WithRight {
  Op op;
  Scalar right;
  template <class T>
  requires std::is_invocable_v<Op, T, T> T operator()(T a) const { return op(a, right.as<T>()); }
};

// Two tensors, or one tensor and a number: attribute `self` on the left, `other` on the right.
template <class Op>
Prepared prepare_binary(const KernelArgs& args, const Op& op, std::optional<Dtype> compute = {}) {
  const auto there = [&](size_t i) { return i < args.inputs.size() && args.inputs[i] != nullptr; };
  if (args.outputs.empty() || args.outputs[0] == nullptr)
    return invalid_argument("the step has no result");
  if (there(0) && there(1))
    return prepare_pointwise(args, std::array<size_t, 2>{0, 1}, op, compute);
  const size_t tensor = there(0) ? 0 : 1;
  if (!there(tensor)) return invalid_argument("the step has no tensor operand");
  if (args.attrs.has(AttrKey::kOther) && tensor == 0)
    return prepare_pointwise(args, std::array{tensor},
                             WithRight<Op>{op, scalar_attr(args.attrs, AttrKey::kOther, 0)},
                             compute);
  if (args.attrs.has(AttrKey::kSelf))
    return prepare_pointwise(args, std::array{tensor},
                             WithLeft<Op>{op, scalar_attr(args.attrs, AttrKey::kSelf, 0)}, compute);
  return invalid_argument("the step's second operand is neither a tensor nor a number");
}

}  // namespace shw::runtime::cpu
