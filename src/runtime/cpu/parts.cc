#include "runtime/cpu/parts.h"

#include <algorithm>
#include <optional>

#include "runtime/cpu/cast.h"
#include "runtime/dim.h"

namespace shw::runtime::cpu {
namespace {

class Parts final : public HostKernel {
 public:
  Parts(const KernelArgs& args, const std::vector<Part>& parts, Ground ground)
      : output_(args.inputs.size()) {
    const TensorType& out = *args.outputs[0];
    if (ground == Ground::kZeros) zeros_.emplace(out);
    if (ground == Ground::kInput) laid_.push_back({StridedCast(out, *args.inputs[0]), 0, 0});
    for (const Part& p : parts)
      laid_.push_back({StridedCast(p.window, *args.inputs[p.input]), p.input, p.offset_bytes});
  }
  Status compute(void* const* buffers) noexcept override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    if (zeros_) zeros_->run(out);
    for (const Laid& l : laid_) l.copy.run(out + l.offset_bytes, buffers[l.input]);
    return {};
  }

 private:
  struct Laid {
    StridedCast copy;
    size_t input;
    int64_t offset_bytes;
  };
  std::optional<StridedFill> zeros_;
  std::vector<Laid> laid_;
  size_t output_;
};

Status check_window(const KernelArgs& args, const Part& part) {
  if (args.inputs[part.input]->shape == part.window.shape) return {};
  return bad_types(to_string(*args.inputs[part.input]) + " is no such part of " +
                   to_string(*args.outputs[0]));
}

}  // namespace

Prepared prepare_parts(const KernelArgs& args, const std::vector<Part>& parts, Ground ground) {
  for (const Part& p : parts) SHW_RETURN_IF_ERROR(check_window(args, p));
  if (ground == Ground::kInput && args.inputs[0]->shape != args.outputs[0]->shape)
    return bad_types(to_string(*args.inputs[0]) + " does not have the shape of " +
                     to_string(*args.outputs[0]));
  return make_kernel<Parts>(args, parts, ground);
}

Result<Part> selected_part(const KernelArgs& args, size_t input) {
  SHW_RETURN_IF_ERROR(expect_operands(args, input + 1));
  SHW_ASSIGN_OR_RETURN(const size_t dim, dim_of(args.attrs, *args.outputs[0]));
  const TensorType& out = *args.outputs[0];
  int64_t index = args.attrs.get_int(AttrKey::kIndex, 0);
  if (index < 0) index += out.shape[dim];
  if (index < 0 || index >= out.shape[dim])
    return bad_types("no such element in " + to_string(out));
  Part part{input, out, index * out.strides[dim] * dtype_size(out.dtype)};
  part.window.shape.erase(dim);
  part.window.strides.erase(dim);
  return part;
}

Result<Part> sliced_part(const KernelArgs& args, size_t input) {
  SHW_RETURN_IF_ERROR(expect_operands(args, input + 1));
  SHW_ASSIGN_OR_RETURN(const size_t dim, dim_of(args.attrs, *args.outputs[0]));
  const TensorType& out = *args.outputs[0];
  const int64_t n = out.shape[dim], step = args.attrs.get_int(AttrKey::kStep, 1);
  const auto bound = [n](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + n : at, 0, n); };
  const int64_t start = bound(args.attrs.get_int(AttrKey::kStart, 0));
  const int64_t span = std::max<int64_t>(0, bound(args.attrs.get_int(AttrKey::kEnd, n)) - start);
  if (step < 1) return bad_types("a slice with step " + std::to_string(step));
  Part part{input, out, start * out.strides[dim] * dtype_size(out.dtype)};
  part.window.shape[dim] = span / step + (span % step != 0);
  part.window.strides[dim] *= std::min(step, std::max<int64_t>(n, 1));
  if (part.window.numel() == 0) part.offset_bytes = 0;  // it may begin behind the result
  return part;
}

}  // namespace shw::runtime::cpu
