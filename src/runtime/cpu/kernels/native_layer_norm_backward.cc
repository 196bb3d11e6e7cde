// native_layer_norm_backward(grad, x, mean, rstd, weight?, bias?) → gradients of x, weight and
// bias. With x̂ = (x − mean) · rstd and g = grad · weight:
//   dx = rstd · (g − avg(g) − x̂ · avg(g · x̂)),   dweight = Σ grad · x̂,   dbias = Σ grad.
// Sums in f64.
#include <algorithm>

#include "runtime/cpu/layer_norm.h"
#include "runtime/cpu/row_sums.h"
#include "runtime/simd.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class LayerNormBackward final : public HostKernel {
 public:
  LayerNormBackward(const KernelArgs& args, size_t from) : output_(args.inputs.size()) {
    const TensorType& x = *args.inputs[1];
    const NormShape shape(x, from);
    rows_ = shape.rows;
    count_ = shape.count;
    for (size_t i = 0; i < 4; ++i) strides_[i] = leading_strides_bytes(*args.inputs[i], from);
    strides_[4] = Dims(from, 0);
    grad_ = NormRow<T>(*args.inputs[0], from);
    x_ = NormRow<T>(x, from);
    for (size_t s : {size_t{0}, size_t{1}}) stat_[s] = load_row<T>(args.inputs[s + 2]->dtype);
    has_weight_ = args.inputs.size() > 4 && args.inputs[4] != nullptr;
    if (has_weight_) weight_ = NormRow<T>(*args.inputs[4], 0);
    if (args.outputs[0] != nullptr) {
      dx_ = NormRow<T>(*args.outputs[0], from);
      strides_[4] = leading_strides_bytes(*args.outputs[0], from);
    }
    for (size_t p : {size_t{0}, size_t{1}})
      if (args.outputs[p + 1] != nullptr) parameter_[p] = NormRow<T>(*args.outputs[p + 1], 0);
  }
  // Two sums; gradient, x, weight.
  int64_t workspace_bytes() const override {
    return count_ * static_cast<int64_t>(2 * sizeof(double) + 3 * sizeof(T));
  }
  Status compute(void* const* buffers) noexcept override {
    auto* dweight = static_cast<double*>(buffers[output_ + 3]);
    double* dbias = dweight + count_;
    T* grad = reinterpret_cast<T*>(dbias + count_);
    T* x = grad + count_;
    T* weight = x + count_;
    std::fill_n(dweight, 2 * count_, 0.0);
    std::fill_n(weight, count_, T{1});
    const std::byte* in[4];
    for (size_t i = 0; i < 4; ++i) in[i] = static_cast<const std::byte*>(buffers[i]);
    if (has_weight_) weight_.load(static_cast<const std::byte*>(buffers[4]), weight);
    auto* dx = static_cast<std::byte*>(buffers[output_]);
    for_each_offset(rows_, strides_, [&](const std::array<int64_t, 5>& at) {
      grad_.load(in[0] + at[0], grad);
      x_.load(in[1] + at[1], x);
      T mean, rstd;
      stat_[0](in[2] + at[2], 0, 1, &mean);
      stat_[1](in[3] + at[3], 0, 1, &rstd);
      vector_loop(count_, [=](int64_t i) {
        x[i] = (x[i] - mean) * rstd;
        dweight[i] += static_cast<double>(grad[i]) * static_cast<double>(x[i]);
        dbias[i] += static_cast<double>(grad[i]);
        grad[i] *= weight[i];
      });
      if (dx == nullptr) return;
      const T a = static_cast<T>(wide_sum(grad, count_) / static_cast<double>(count_)),
              b = static_cast<T>(wide_product(grad, x, count_) / static_cast<double>(count_));
      vector_loop(count_, [=](int64_t i) { grad[i] = rstd * (grad[i] - a - x[i] * b); });
      dx_.store(grad, dx + at[4]);
    });
    for (size_t p = 0; p < 2; ++p) {
      auto* to = static_cast<std::byte*>(buffers[output_ + 1 + p]);
      if (to == nullptr) continue;
      const double* sums = p == 0 ? dweight : dbias;
      for (int64_t i = 0; i < count_; ++i) x[i] = static_cast<T>(sums[i]);
      parameter_[p].store(x, to);
    }
    return {};
  }

 private:
  int64_t count_;
  Dims rows_;
  std::array<Dims, 5> strides_;  // grad, x, mean, rstd, dx
  NormRow<T> grad_, x_, weight_, dx_;
  std::array<NormRow<T>, 2> parameter_;
  std::array<LoadRow<T>, 2> stat_{};
  bool has_weight_ = false;
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 4, 0));
  if (args.outputs.size() != 3) return bad_types("layer norm has three gradients");
  const auto in = [&](size_t i) { return i < args.inputs.size() ? args.inputs[i] : nullptr; };
  const TensorType& x = *in(1);
  SHW_ASSIGN_OR_RETURN(const size_t from, check_norm(args, x, {in(2), in(3)},
                                                     {in(4), args.outputs[1], args.outputs[2]}));
  if (in(0)->shape != x.shape || (args.outputs[0] != nullptr && args.outputs[0]->shape != x.shape))
    return bad_types("the gradient does not have the shape of " + to_string(x));
  if (x.dtype == Dtype::kF64) return make_kernel<LayerNormBackward<double>>(args, from);
  return make_kernel<LayerNormBackward<float>>(args, from);
}

}  // namespace

extern const Kernel kLayerNormBackward;
constinit const Kernel kLayerNormBackward = {"native_layer_norm_backward", prepare};

}  // namespace shw::runtime::cpu
