// fused_rms_norm_backward(grad, x, rstd, weight?) → gradients of x and weight. With x̂ = x·rstd and
// g = grad·weight:
//   dx = rstd·(g − x̂·avg(g·x̂)),   dweight = Σ grad·x̂.
// Sums in f64.
#include <algorithm>

#include "runtime/cpu/layer_norm.h"
#include "runtime/cpu/row_sums.h"
#include "runtime/simd.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class RmsNormBackward final : public HostKernel {
 public:
  RmsNormBackward(const KernelArgs& args, size_t from) : output_(args.inputs.size()) {
    const TensorType& x = *args.inputs[1];
    const NormShape shape(x, from);
    rows_ = shape.rows;
    count_ = shape.count;
    for (size_t i = 0; i < 3; ++i) strides_[i] = leading_strides_bytes(*args.inputs[i], from);
    strides_[3] = Dims(from, 0);
    grad_ = NormRow<T>(*args.inputs[0], from);
    x_ = NormRow<T>(x, from);
    load_rstd_ = load_row<T>(args.inputs[2]->dtype);
    has_weight_ = args.inputs.size() > 3 && args.inputs[3] != nullptr;
    if (has_weight_) weight_ = NormRow<T>(*args.inputs[3], 0);
    if (args.outputs[0] != nullptr) {
      dx_ = NormRow<T>(*args.outputs[0], from);
      strides_[3] = leading_strides_bytes(*args.outputs[0], from);
    }
    if (args.outputs[1] != nullptr) dweight_ = NormRow<T>(*args.outputs[1], 0);
  }
  // A sum; gradient, x, weight.
  int64_t workspace_bytes() const override {
    return count_ * static_cast<int64_t>(sizeof(double) + 3 * sizeof(T));
  }
  Status compute(void* const* buffers) noexcept override {
    auto* sums = static_cast<double*>(buffers[output_ + 2]);
    T* grad = reinterpret_cast<T*>(sums + count_);
    T* x = grad + count_;
    T* weight = x + count_;
    std::fill_n(sums, count_, 0.0);
    std::fill_n(weight, count_, T{1});
    const std::byte* in[3];
    for (size_t i = 0; i < 3; ++i) in[i] = static_cast<const std::byte*>(buffers[i]);
    if (has_weight_) weight_.load(static_cast<const std::byte*>(buffers[3]), weight);
    auto *dx = static_cast<std::byte*>(buffers[output_]),
         *dweight = static_cast<std::byte*>(buffers[output_ + 1]);
    for_each_offset(rows_, strides_, [&](const std::array<int64_t, 4>& at) {
      grad_.load(in[0] + at[0], grad);
      x_.load(in[1] + at[1], x);
      T rstd;
      load_rstd_(in[2] + at[2], 0, 1, &rstd);
      vector_loop(count_, [=](int64_t i) {
        x[i] *= rstd;
        sums[i] += static_cast<double>(grad[i]) * static_cast<double>(x[i]);
        grad[i] *= weight[i];
      });
      if (dx == nullptr) return;
      const T average = static_cast<T>(wide_product(grad, x, count_) / static_cast<double>(count_));
      vector_loop(count_, [=](int64_t i) { grad[i] = rstd * (grad[i] - x[i] * average); });
      dx_.store(grad, dx + at[3]);
    });
    if (dweight == nullptr) return {};
    for (int64_t i = 0; i < count_; ++i) x[i] = static_cast<T>(sums[i]);
    dweight_.store(x, dweight);
    return {};
  }

 private:
  int64_t count_;
  Dims rows_;
  std::array<Dims, 4> strides_;  // grad, x, rstd, dx
  NormRow<T> grad_, x_, weight_, dx_, dweight_;
  LoadRow<T> load_rstd_;
  bool has_weight_;
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3, 0));
  if (args.outputs.size() != 2) return bad_types("RMS norm has two gradients");
  const TensorType &grad = *args.inputs[0], &x = *args.inputs[1];
  const TensorType* weight = args.inputs.size() > 3 ? args.inputs[3] : nullptr;
  SHW_ASSIGN_OR_RETURN(const size_t from,
                       check_norm(args, x, {args.inputs[2]}, {weight, args.outputs[1]}));
  if (grad.shape != x.shape || (args.outputs[0] != nullptr && args.outputs[0]->shape != x.shape))
    return bad_types("the gradient does not have the shape of " + to_string(x));
  if (x.dtype == Dtype::kF64) return make_kernel<RmsNormBackward<double>>(args, from);
  return make_kernel<RmsNormBackward<float>>(args, from);
}

}  // namespace

extern const Kernel kRmsNormBackward;
constinit const Kernel kRmsNormBackward = {"fused_rms_norm_backward", prepare};

}  // namespace shw::runtime::cpu
