// native_layer_norm(x, weight?, bias?) → out, mean, rstd: over the last dims
// (attrs.normalized_shape); sums in f64.
#include "runtime/cpu/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "runtime/cpu/pointwise.h"
#include "runtime/cpu/row_sums.h"
#include "runtime/simd.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class LayerNorm final : public HostKernel {
 public:
  LayerNorm(const KernelArgs& args, size_t from)
      : eps_(scalar_attr(args.attrs, AttrKey::kEps, 0).number) {
    const TensorType& x = *args.inputs[0];
    const NormShape shape(x, from);
    rows_ = shape.rows;
    count_ = shape.count;
    row_[0] = NormRow<T>(x, from);
    strides_[0] = leading_strides_bytes(x, from);
    for (size_t i : {size_t{1}, size_t{2}})
      if (i < args.inputs.size() && args.inputs[i] != nullptr)
        parameter_[i - 1] = NormRow<T>(*args.inputs[i], 0);
    has_ = {args.inputs.size() > 1 && args.inputs[1] != nullptr,
            args.inputs.size() > 2 && args.inputs[2] != nullptr};
    output_ = args.inputs.size();
    for (size_t o = 0; o < 3; ++o) {
      strides_[o + 1] = Dims(from, 0);
      if (o >= args.outputs.size() || args.outputs[o] == nullptr) continue;
      strides_[o + 1] = leading_strides_bytes(*args.outputs[o], from);
      if (o == 0)
        row_[1] = NormRow<T>(*args.outputs[0], from);
      else
        stat_[o - 1] = store_row<T>(args.outputs[o]->dtype);
    }
  }
  int64_t workspace_bytes() const override { return 3 * count_ * static_cast<int64_t>(sizeof(T)); }
  Status compute(void* const* buffers) noexcept override {
    const auto* x = static_cast<const std::byte*>(buffers[0]);
    std::byte* out[3];
    for (size_t o = 0; o < 3; ++o) out[o] = static_cast<std::byte*>(buffers[output_ + o]);
    T* row = static_cast<T*>(buffers[output_ + 3]);
    T* weight = row + count_;
    T* bias = weight + count_;
    std::fill_n(weight, count_, T{1});
    std::fill_n(bias, count_, T{0});
    if (has_[0]) parameter_[0].load(static_cast<const std::byte*>(buffers[1]), weight);
    if (has_[1]) parameter_[1].load(static_cast<const std::byte*>(buffers[2]), bias);
    for_each_offset(rows_, strides_, [&](const std::array<int64_t, 4>& at) {
      row_[0].load(x + at[0], row);
      const double mean = wide_sum(row, count_) / static_cast<double>(count_);
      const double squares = wide_squares(row, mean, count_);
      const double rstd = 1 / std::sqrt(squares / static_cast<double>(count_) + eps_);
      const T m = static_cast<T>(mean), r = static_cast<T>(rstd);
      if (out[1] != nullptr) stat_[0](&m, 1, out[1] + at[2], 0);
      if (out[2] != nullptr) stat_[1](&r, 1, out[2] + at[3], 0);
      if (out[0] == nullptr) return;
      vector_loop(count_, [=](int64_t i) { row[i] = (row[i] - m) * r * weight[i] + bias[i]; });
      row_[1].store(row, out[0] + at[1]);
    });
    return {};
  }

 private:
  double eps_;
  int64_t count_;
  Dims rows_;
  std::array<Dims, 4> strides_;  // x, then the results
  std::array<NormRow<T>, 2> row_, parameter_;
  std::array<bool, 2> has_{};
  std::array<StoreRow<T>, 2> stat_{};
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1, 0));
  const auto in = [&](size_t i) { return i < args.inputs.size() ? args.inputs[i] : nullptr; };
  const auto out = [&](size_t i) { return i < args.outputs.size() ? args.outputs[i] : nullptr; };
  if (args.outputs.size() != 3) return bad_types("layer norm has three results");
  SHW_ASSIGN_OR_RETURN(const size_t from,
                       check_norm(args, *in(0), {out(1), out(2)}, {in(1), in(2)}));
  if (out(0) != nullptr && out(0)->shape != in(0)->shape)
    return bad_types(to_string(*in(0)) + " is not normalised to " + to_string(*out(0)));
  if (in(0)->dtype == Dtype::kF64) return make_kernel<LayerNorm<double>>(args, from);
  return make_kernel<LayerNorm<float>>(args, from);
}

}  // namespace

extern const Kernel kLayerNorm;
constinit const Kernel kLayerNorm = {"native_layer_norm", prepare};

}  // namespace shw::runtime::cpu
