// fused_rms_norm(x, weight?) → x·rstd·weight, rstd = 1/√(mean square + attrs.eps): over the last
// dims (attrs.normalized_shape); sums in f64. Without eps: the dtype's own.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/cpu/layer_norm.h"
#include "runtime/cpu/pointwise.h"
#include "runtime/cpu/row_sums.h"
#include "runtime/simd.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class RmsNorm final : public HostKernel {
 public:
  RmsNorm(const KernelArgs& args, size_t from)
      : eps_(args.attrs.has(AttrKey::kEps) ? scalar_attr(args.attrs, AttrKey::kEps, 0).number
                                           : std::numeric_limits<T>::epsilon()) {
    const TensorType& x = *args.inputs[0];
    const NormShape shape(x, from);
    rows_ = shape.rows;
    count_ = shape.count;
    x_ = NormRow<T>(x, from);
    strides_[0] = leading_strides_bytes(x, from);
    has_weight_ = args.inputs.size() > 1 && args.inputs[1] != nullptr;
    if (has_weight_) weight_ = NormRow<T>(*args.inputs[1], 0);
    output_ = args.inputs.size();
    for (size_t o = 0; o < 2; ++o)
      strides_[o + 1] =
          args.outputs[o] ? leading_strides_bytes(*args.outputs[o], from) : Dims(from, 0);
    if (args.outputs[0]) out_ = NormRow<T>(*args.outputs[0], from);
    if (args.outputs[1]) store_rstd_ = store_row<T>(args.outputs[1]->dtype);
  }
  int64_t workspace_bytes() const override { return 2 * count_ * static_cast<int64_t>(sizeof(T)); }
  Status compute(void* const* buffers) noexcept override {
    auto *out = static_cast<std::byte*>(buffers[output_]),
         *rstd = static_cast<std::byte*>(buffers[output_ + 1]);
    T* row = static_cast<T*>(buffers[output_ + 2]);
    T* weight = row + count_;
    std::fill_n(weight, count_, T{1});
    if (has_weight_) weight_.load(static_cast<const std::byte*>(buffers[1]), weight);
    for_each_offset(rows_, strides_, [&](const std::array<int64_t, 3>& at) {
      x_.load(static_cast<const std::byte*>(buffers[0]) + at[0], row);
      const double squares = wide_product(row, row, count_);
      const T r = static_cast<T>(1 / std::sqrt(squares / static_cast<double>(count_) + eps_));
      if (rstd != nullptr) store_rstd_(&r, 1, rstd + at[2], 0);
      if (out == nullptr) return;
      vector_loop(count_, [=](int64_t i) { row[i] = row[i] * r * weight[i]; });
      out_.store(row, out + at[1]);
    });
    return {};
  }

 private:
  double eps_;
  int64_t count_;
  Dims rows_;
  std::array<Dims, 3> strides_;  // x, result, rstd
  NormRow<T> x_, weight_, out_;
  bool has_weight_;
  StoreRow<T> store_rstd_ = nullptr;
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1, 0));
  if (args.outputs.size() != 2) return bad_types("RMS norm has two results");
  const TensorType& x = *args.inputs[0];
  const TensorType* weight = args.inputs.size() > 1 ? args.inputs[1] : nullptr;
  SHW_ASSIGN_OR_RETURN(const size_t from, check_norm(args, x, {args.outputs[1]}, {weight}));
  if (args.outputs[0] != nullptr && args.outputs[0]->shape != x.shape)
    return bad_types(to_string(x) + " is not normalised to " + to_string(*args.outputs[0]));
  if (x.dtype == Dtype::kF64) return make_kernel<RmsNorm<double>>(args, from);
  return make_kernel<RmsNorm<float>>(args, from);
}

}  // namespace

extern const Kernel kRmsNorm;
constinit const Kernel kRmsNorm = {"fused_rms_norm", prepare};

}  // namespace shw::runtime::cpu
