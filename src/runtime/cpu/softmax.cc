#include "runtime/cpu/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/math.h"
#include "runtime/cpu/odometer.h"
#include "runtime/cpu/rows.h"
#include "runtime/lines.h"

namespace shw::runtime::cpu {
namespace {

// Subtracting the largest element first changes nothing but keeps e^x in range. A line of −∞ alone
// gives NaN, as in ATen.
template <class T>
void softmax(T* x, int64_t n, Softmax kind) {
  T most = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < n; ++i) most = std::max(most, x[i]);
  double sum = 0;
  if (kind == Softmax::kLog) {
    for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(fast_exp(x[i] - most));
    const T shift = most + static_cast<T>(std::log(sum));
    for (int64_t i = 0; i < n; ++i) x[i] = x[i] - shift;
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    x[i] = fast_exp(x[i] - most);
    sum += static_cast<double>(x[i]);
  }
  const T scale = static_cast<T>(1 / sum);
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] * scale;
}

// Into `grad`; y is what the forward op gave.
template <class T>
void backward(T* grad, const T* y, int64_t n, Softmax kind) {
  double sum = 0;
  if (kind == Softmax::kLog) {
    for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(grad[i]);
    for (int64_t i = 0; i < n; ++i) grad[i] = grad[i] - fast_exp(y[i]) * static_cast<T>(sum);
    return;
  }
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(grad[i]) * static_cast<double>(y[i]);
  for (int64_t i = 0; i < n; ++i) grad[i] = y[i] * (grad[i] - static_cast<T>(sum));
}

// N − 1 inputs, one result.
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
Prepared prepare(const KernelArgs& args, Softmax kind) {
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
Prepared prepare_softmax_backward(const KernelArgs& args, Softmax kind) {
  return prepare<3>(args, kind);
}

}  // namespace shw::runtime::cpu
