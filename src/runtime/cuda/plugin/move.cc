// Steps that copy or create elements: clone, casts, local_slice, full.
#include "runtime/cuda/plugin/move.h"

#include <algorithm>
#include <optional>

#include "runtime/cuda/plugin/laid_kernel.h"
#include "runtime/local_block.h"

namespace shw::runtime::cuda {
namespace {

// A copy followed by zeros; either may be absent.
class MoveKernel final : public CudaKernel {
 public:
  MoveKernel(size_t output) : output_(output) {}
  std::optional<Pointwise> copy, fill;
  int64_t from_bytes = 0, fill_bytes = 0;  // where the copy reads, and where the filling begins

  std::optional<StepFormula> formula() const override {
    if (copy.has_value() == fill.has_value() || from_bytes != 0 || fill_bytes != 0) return {};
    return copy ? copy->formula({0, -1, -1}) : fill->formula({-1, -1, -1});
  }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    auto* to = static_cast<std::byte*>(buffers[output_]);
    if (copy)
      SHW_RETURN_IF_ERROR(
          copy->run(stream, to, static_cast<const std::byte*>(buffers[0]) + from_bytes, nullptr));
    if (fill) SHW_RETURN_IF_ERROR(fill->run(stream, to + fill_bytes, nullptr, nullptr));
    return {};
  }

 private:
  const size_t output_;
};

}  // namespace

Prepared prepare_move(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &from = *args.inputs[0], &to = *args.outputs[0];
  if (from.shape != to.shape)
    return bad_types(to_string(from) + " does not have the shape of " + to_string(to));
  auto kernel = std::make_unique<MoveKernel>(args.inputs.size());
  kernel->copy = make_copy(to, from);
  return std::unique_ptr<PreparedKernel>(std::move(kernel));
}

Prepared prepare_full(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 0));
  if (!args.attrs.has(AttrKey::kFillValue)) return invalid_argument("there is no fill_value");
  auto kernel = std::make_unique<MoveKernel>(args.inputs.size());
  kernel->fill = make_fill(*args.outputs[0], number_attr(args.attrs, AttrKey::kFillValue, 0));
  return std::unique_ptr<PreparedKernel>(std::move(kernel));
}

Prepared prepare_local_slice(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &from = *args.inputs[0], &to = *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(const LocalBlock block, local_block(args));
  const size_t d = block.dim;
  auto kernel = std::make_unique<MoveKernel>(args.inputs.size());
  kernel->from_bytes = block.own == 0 ? 0 : block.offset * from.strides[d] * dtype_size(from.dtype);
  kernel->fill_bytes = block.own * to.strides[d] * dtype_size(to.dtype);
  TensorType source = from, target = to, rest = to;
  source.shape[d] = target.shape[d] = block.own;
  rest.shape[d] -= block.own;
  if (target.numel() > 0) kernel->copy = make_copy(target, source);
  if (rest.numel() > 0) kernel->fill = make_fill(rest, {});
  return std::unique_ptr<PreparedKernel>(std::move(kernel));
}

}  // namespace shw::runtime::cuda
