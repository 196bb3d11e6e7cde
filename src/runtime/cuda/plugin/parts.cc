// A launch for each part.
#include "runtime/cuda/plugin/parts.h"

#include <vector>

#include "runtime/cuda/plugin/pointwise.h"
#include "runtime/part.h"

namespace shw::runtime::cuda {
namespace {

class PartsKernel final : public CudaKernel {
 public:
  explicit PartsKernel(size_t output) : output_(output) {}
  // `input`: -1: none, a number is laid.
  void lay(const Pointwise& pointwise, int input, int64_t offset_bytes) {
    laid_.push_back({pointwise, input, offset_bytes});
  }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    for (const Laid& l : laid_) {
      const void* from = l.input < 0 ? nullptr : buffers[l.input];
      SHW_RETURN_IF_ERROR(l.pointwise.run(stream, out + l.offset_bytes, from, nullptr));
    }
    return {};
  }

 private:
  struct Laid {
    Pointwise pointwise;
    int input;
    int64_t offset_bytes;
  };
  std::vector<Laid> laid_;
  const size_t output_;
};

Prepared lay_parts(const KernelArgs& args, const std::vector<Part>& parts, Ground ground) {
  SHW_RETURN_IF_ERROR(check_parts(args, parts, ground));
  const TensorType& out = *args.outputs[0];
  auto kernel = std::make_unique<PartsKernel>(args.inputs.size());
  if (ground == Ground::kZeros) {
    Pointwise zeros(PointwiseOp::kCopy, out.dtype, out, {});
    zeros.set_fixed(0, {});
    kernel->lay(zeros, -1, 0);
  }
  if (ground == Ground::kInput) kernel->lay(make_copy(out, *args.inputs[0]), 0, 0);
  for (const Part& p : parts)
    if (p.window.numel() > 0)
      kernel->lay(make_copy(p.window, *args.inputs[p.input]), static_cast<int>(p.input),
                  p.offset_bytes);
  return std::unique_ptr<PreparedKernel>(std::move(kernel));
}

}  // namespace

Prepared prepare_cat(const Context&, const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const std::vector<Part> parts, joined_parts(args));
  return lay_parts(args, parts, Ground::kNone);
}
Prepared prepare_stack(const Context&, const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const std::vector<Part> parts, stacked_parts(args));
  return lay_parts(args, parts, Ground::kNone);
}
Prepared prepare_slice_scatter(const Context&, const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Part part, sliced_part(args, 1));
  return lay_parts(args, {part}, Ground::kInput);
}
Prepared prepare_slice_backward(const Context&, const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Part part, sliced_part(args, 0));
  return lay_parts(args, {part}, Ground::kZeros);
}
Prepared prepare_select_scatter(const Context&, const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Part part, selected_part(args, 1));
  return lay_parts(args, {part}, Ground::kInput);
}
Prepared prepare_select_backward(const Context&, const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Part part, selected_part(args, 0));
  return lay_parts(args, {part}, Ground::kZeros);
}

}  // namespace shw::runtime::cuda
