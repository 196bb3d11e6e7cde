// The product is written to the workspace, in f32 for half-precision types, so that the result is
// rounded once.
#include "runtime/cuda/plugin/biased_product.h"

#include <array>
#include <optional>

#include "runtime/cuda/plugin/contraction.h"
#include "runtime/cuda/plugin/pointwise.h"
#include "runtime/wide_type.h"

namespace shw::runtime::cuda {
namespace {

class BiasedProduct final : public CudaKernel {
 public:
  BiasedProduct(std::unique_ptr<PreparedKernel> product, int64_t product_bytes,
                const std::optional<Pointwise>& scale, const Pointwise& finish)
      : product_(std::move(product)),
        product_bytes_(workspace_aligned(product_bytes)),
        scale_(scale),
        finish_(finish) {}
  int64_t workspace_bytes() const override { return product_bytes_ + product_->workspace_bytes(); }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    auto* sum = static_cast<std::byte*>(buffers[4]);
    void* const operands[] = {buffers[1], buffers[2], sum, sum + product_bytes_};
    product_->origin = origin;
    product_->launch(stream, operands);  // reads `operands` before it returns
    // In place: each thread reads the element that it writes.
    if (scale_) SHW_RETURN_IF_ERROR(scale_->run(stream, sum, sum, nullptr));
    return finish_.run(stream, buffers[3], sum, buffers[0]);
  }

 private:
  const std::unique_ptr<PreparedKernel> product_;
  const int64_t product_bytes_;
  const std::optional<Pointwise> scale_;
  const Pointwise finish_;  // adds c, or only converts the dtype
};

Prepared biased_product(const Context& context, const KernelArgs& args, std::string_view equation) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3));
  if (args.inputs.size() != 3) return bad_types("a biased product has three operands");
  const TensorType &bias = *args.inputs[0], &out = *args.outputs[0];
  SHW_RETURN_IF_ERROR(check_size({out.numel()}));
  if (!broadcasts_to(bias.shape, out.shape))
    return bad_types(to_string(bias) + " does not broadcast to " + to_string(out));
  const TensorType wide = wide_type(out);
  const std::array<const TensorType*, 2> factors{args.inputs[1], args.inputs[2]};
  const std::array<const TensorType*, 1> sums{&wide};
  SHW_ASSIGN_OR_RETURN(
      auto product,
      prepare_contraction(context, {factors, sums, args.attrs, args.mesh, args.rank}, equation));
  const Number alpha = number_attr(args.attrs, AttrKey::kAlpha, 1),
               beta = number_attr(args.attrs, AttrKey::kBeta, 1);
  const PointwiseOperand sum{&wide, broadcast_strides_bytes(wide, out.shape)};
  std::optional<Pointwise> scale;
  if (alpha.real != 1) {
    scale.emplace(PointwiseOp::kMul, wide.dtype, wide, sum);
    scale->set_fixed(1, alpha);
  }
  // With beta = 0 the bias is not read: NaN and infinity in it are ignored, as in ATen.
  Pointwise finish = make_copy(out, wide);
  if (beta.real != 0) {
    finish = Pointwise(PointwiseOp::kAdd, out.dtype, out, sum,
                       {&bias, broadcast_strides_bytes(bias, out.shape)});
    finish.set_parameter(beta);
  }
  return make_kernel<BiasedProduct>(std::move(product), wide.bytes(), scale, finish);
}

}  // namespace

Prepared prepare_addmm(const Context& context, const KernelArgs& args) {
  return biased_product(context, args, "mk,kn->mn");
}
Prepared prepare_baddbmm(const Context& context, const KernelArgs& args) {
  return biased_product(context, args, "bmk,bkn->bmn");
}

}  // namespace shw::runtime::cuda
