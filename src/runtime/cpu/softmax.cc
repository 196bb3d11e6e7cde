#include "runtime/cpu/softmax.h"

#include <algorithm>
#include <cmath>

#include "runtime/cpu/codegen/math.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/odometer.h"
#include "runtime/cpu/row_sums.h"
#include "runtime/cpu/rows.h"
#include "runtime/lines.h"
#include "runtime/simd.h"

namespace shw::runtime::cpu {
namespace {

// Σ e^(x − most), computed with a part of the line in memory at a time.
template <class T>
double sum_of_exp(const T* x, int64_t n, T most) {
  constexpr int64_t kChunk = 512;
  T part[kChunk];
  double sum = 0;
  for (int64_t at = 0; at < n; at += kChunk) {
    const int64_t count = std::min(kChunk, n - at);
    long_vector_loop(count, [&, from = x + at](int64_t i) { part[i] = fast_exp(from[i] - most); });
    sum += wide_sum(part, count);
  }
  return sum;
}

// Subtracting the largest element first does not change the result, and keeps e^x in range. A line
// that consists only of −∞ gives NaN, as in ATen.
template <class T>
void softmax(T* x, int64_t n, Softmax kind) {
  const T most = row_max(x, n);
  if (kind == Softmax::kLog) {
    const T shift = most + static_cast<T>(std::log(sum_of_exp(x, n, most)));
    vector_loop(n, [=](int64_t i) { x[i] = x[i] - shift; });
    return;
  }
  long_vector_loop(n, [=](int64_t i) { x[i] = fast_exp(x[i] - most); });
  const T scale = static_cast<T>(1 / wide_sum(x, n));
  vector_loop(n, [=](int64_t i) { x[i] = x[i] * scale; });
}

// Writes the result to `grad`; y is the result of the forward op.
template <class T>
void backward(T* grad, const T* y, int64_t n, Softmax kind) {
  if (kind == Softmax::kLog) {
    const T sum = static_cast<T>(wide_sum(grad, n));
    vector_loop(n, [=](int64_t i) { grad[i] = grad[i] - fast_exp(y[i]) * sum; });
    return;
  }
  const T sum = static_cast<T>(wide_product(grad, y, n));
  vector_loop(n, [=](int64_t i) { grad[i] = y[i] * (grad[i] - sum); });
}

// A kernel with N − 1 inputs and one result.
template <class T, size_t N>
class SoftmaxKernel final : public HostKernel {
 public:
  SoftmaxKernel(const KernelArgs& args, const Lines<N>& lines, Softmax kind)
      : kind_(kind), lines_(lines), store_(store_row<T>(args.outputs[0]->dtype)) {
    for (size_t o = 0; o + 1 < N; ++o) load_[o] = load_row<T>(args.inputs[o]->dtype);
  }
  int64_t workspace_bytes() const override {
    return static_cast<int64_t>(sizeof(T) * (N - 1)) * lines_.count[0];
  }
  Status compute(void* const* buffers) noexcept override {
    const int64_t n = lines_.count[0];
    T* row = static_cast<T*>(buffers[N]);
    for_each_offset(lines_.places, lines_.strides, [&](const std::array<int64_t, N>& at) {
      for (size_t o = 0; o + 1 < N; ++o)
        load_[o](static_cast<const std::byte*>(buffers[o]) + at[o], lines_.step[o], n,
                 row + static_cast<int64_t>(o) * n);
      if constexpr (N == 2)
        softmax(row, n, kind_);
      else
        backward(row, row + n, n, kind_);
      store_(row, n, static_cast<std::byte*>(buffers[N - 1]) + at[N - 1], lines_.step[N - 1]);
    });
    return {};
  }

 private:
  Softmax kind_;
  Lines<N> lines_;
  std::array<LoadRow<T>, N - 1> load_;
  StoreRow<T> store_;
};

template <size_t N>
[[gnu::cold]] Prepared prepare(const KernelArgs& args, Softmax kind) {
  SHW_RETURN_IF_ERROR(expect_operands(args, N - 1));
  std::array<const TensorType*, N> tensors;
  for (size_t o = 0; o + 1 < N; ++o) tensors[o] = args.inputs[o];
  const TensorType& out = *args.outputs[0];
  tensors[N - 1] = &out;
  if (args.inputs.size() != N - 1 || args.outputs.size() != 1 || !is_floating(out.dtype))
    return bad_types("no softmax in " + to_string(out));
  SHW_ASSIGN_OR_RETURN(const Lines<N> lines, lines_along(args.attrs, -1, tensors));
  for (int64_t count : lines.count)
    if (count != lines.count[0]) return bad_types("lines of a softmax differ in length");
  SHW_RETURN_IF_ERROR(check_size({lines.count[0]}));
  if (out.dtype == Dtype::kF64) return make_kernel<SoftmaxKernel<double, N>>(args, lines, kind);
  return make_kernel<SoftmaxKernel<float, N>>(args, lines, kind);
}

}  // namespace

Prepared prepare_softmax(const KernelArgs& args, Softmax kind) { return prepare<2>(args, kind); }
[[gnu::cold]] Prepared prepare_softmax_backward(const KernelArgs& args, Softmax kind) {
  return prepare<3>(args, kind);
}

}  // namespace shw::runtime::cpu
