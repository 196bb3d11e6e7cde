// A launch for each part.
#include "runtime/cuda/plugin/parts.h"

#include <vector>

#include "runtime/cuda/plugin/pointwise.h"
#include "runtime/dim.h"
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
  std::optional<StepFormula> described;  // by a formula
  std::optional<StepFormula> formula() const override { return described; }

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

// Of parts that lie without gaps along a dim of the result, on nothing or on input 0.
std::optional<StepFormula> parts_formula(const KernelArgs& args, const std::vector<Part>& parts,
                                         Ground ground) {
  const TensorType& out = *args.outputs[0];
  const auto dim = dim_of(args.attrs, out);
  if (!dim.ok() || ground == Ground::kZeros) return {};
  StepFormula formula;
  formula.kind = StepFormula::Kind::kParts;
  formula.dim = *dim;
  const int64_t step = out.strides[*dim] * dtype_size(out.dtype);
  int64_t end = 0;
  const auto lay_ground = [&](int64_t until) {
    if (until > end) formula.parts.push_back({0, end, until - end, end});
  };
  for (const Part& p : parts) {
    if (p.window.rank() != out.rank() || p.window.strides != out.strides || step == 0) return {};
    if (p.window.numel() == 0) continue;
    const int64_t begin = p.offset_bytes / step, count = p.window.shape[*dim];
    if (ground == Ground::kInput) lay_ground(begin);
    formula.parts.push_back({static_cast<int>(p.input), begin, count, 0});
    end = begin + count;
  }
  if (ground == Ground::kInput) lay_ground(out.shape[*dim]);
  return formula;
}

Prepared lay_parts(const KernelArgs& args, const std::vector<Part>& parts, Ground ground) {
  SHW_RETURN_IF_ERROR(check_parts(args, parts, ground));
  const TensorType& out = *args.outputs[0];
  auto kernel = std::make_unique<PartsKernel>(args.inputs.size());
  kernel->described = parts_formula(args, parts, ground);
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
