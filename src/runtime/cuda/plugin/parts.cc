// Uses one launch for each part.
#include "runtime/cuda/plugin/parts.h"

#include <vector>

#include "runtime/cuda/plugin/laid_kernel.h"
#include "runtime/dim.h"
#include "runtime/part.h"

namespace shw::runtime::cuda {
namespace {

// The formula for parts that cover a dim of the result without gaps, alone or together with input
// 0.
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
  auto kernel = std::make_unique<LaidKernel>(args.inputs.size());
  kernel->described = parts_formula(args, parts, ground);
  if (ground == Ground::kZeros) kernel->lay(out, 0, Number{});
  if (ground == Ground::kInput) kernel->lay(out, 0, *args.inputs[0], 0);
  for (const Part& p : parts) kernel->lay(p.window, p.offset_bytes, *args.inputs[p.input], p.input);
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
