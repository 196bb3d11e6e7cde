// The product is written to the workspace, in f32 for narrower floats; scales and bias are applied
// there. float8_product.h has the 8-bit products that cuBLASLt supports.
#include "runtime/cuda/plugin/scaled_product.h"

#include <array>
#include <optional>

#include "runtime/cuda/plugin/contraction.h"
#include "runtime/cuda/plugin/float8_product.h"
#include "runtime/cuda/plugin/pointwise.h"
#include "runtime/wide_type.h"

namespace shw::runtime::cuda {
namespace {

class ScaledProduct final : public CudaKernel {
 public:
  // `add` reads the scaled product, which `scale` writes in place. `add` absent: `scale` writes the
  // result.
  ScaledProduct(std::unique_ptr<PreparedKernel> product, int64_t product_bytes,
                const Pointwise& scale, const std::optional<Pointwise>& add, size_t output)
      : product_(std::move(product)),
        product_bytes_(workspace_aligned(product_bytes)),
        scale_(scale),
        add_(add),
        output_(output) {}
  int64_t workspace_bytes() const override { return product_bytes_ + product_->workspace_bytes(); }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    auto* sum = static_cast<std::byte*>(buffers[output_ + 1]);
    void* const operands[] = {buffers[0], buffers[1], sum, sum + product_bytes_};
    product_->origin = origin;
    product_->launch(stream, operands);  // reads `operands` before it returns
    void* result = buffers[output_];
    // In place each thread reads the element that it writes.
    SHW_RETURN_IF_ERROR(scale_.run(stream, add_ ? sum : result, sum, buffers[2], buffers[3]));
    return add_ ? add_->run(stream, result, sum, buffers[4]) : Status();
  }

 private:
  const std::unique_ptr<PreparedKernel> product_;
  const int64_t product_bytes_;
  const Pointwise scale_;
  const std::optional<Pointwise> add_;
  const size_t output_;
};

}  // namespace

Prepared prepare_scaled_mm(const Context& context, const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const TensorType wide, scaled_product_type(args));
  const TensorType& out = *args.outputs[0];
  const TensorType* bias = args.inputs.size() > 4 ? args.inputs[4] : nullptr;
  const std::array<const TensorType*, 1> products{&wide};
  SHW_ASSIGN_OR_RETURN(
      auto product, prepare_contraction(
                        context, {args.inputs.first(2), products, args.attrs, args.mesh, args.rank},
                        "mk,kn->mn"));
  const auto operand = [&](const TensorType& type) {
    return PointwiseOperand{&type, broadcast_strides_bytes(type, out.shape)};
  };
  const TensorType& scaled = bias != nullptr ? wide : out;
  const Pointwise scale(PointwiseOp::kMulThree, wide.dtype, scaled, operand(wide),
                        operand(*args.inputs[2]), operand(*args.inputs[3]));
  std::optional<Pointwise> add;
  if (bias != nullptr)
    add.emplace(PointwiseOp::kAdd, out.dtype, out, operand(wide), operand(*bias));
  auto kernel = std::make_unique<ScaledProduct>(std::move(product), wide.bytes(), scale, add,
                                                args.inputs.size());
  if (!is_float8(args.inputs[0]->dtype) || !is_float8(args.inputs[1]->dtype))
    return std::unique_ptr<PreparedKernel>(std::move(kernel));
  return prepare_float8_product(context, args, std::move(kernel));
}

}  // namespace shw::runtime::cuda
