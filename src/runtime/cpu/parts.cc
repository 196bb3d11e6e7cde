#include "runtime/cpu/parts.h"

#include <algorithm>
#include <optional>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/codegen/formula.h"

namespace shw::runtime::cpu {
namespace {

// The parts along the last dim, in order, without gaps; with ground kInput, input 0 fills the gaps.
// Empty: the parts do not have this form, or the tensors are not all f32 or all bf16.
std::vector<RowPart> row_parts_of(const KernelArgs& args, const std::vector<Part>& parts,
                                  Ground ground) {
  const TensorType& out = *args.outputs[0];
  if (!in_compiled_loops(out.dtype) || out.rank() == 0 || ground == Ground::kZeros) return {};
  std::vector<RowPart> rows;
  int64_t end = 0;
  const auto fill_to = [&](int64_t column) {
    if (column > end && ground == Ground::kInput) rows.push_back({end, column - end, end, 0});
    return ground == Ground::kInput || column == end;
  };
  for (const Part& p : parts) {
    const int64_t begin = p.offset_bytes / dtype_size(out.dtype);
    const Dims &shape = p.window.shape, &in = args.inputs[p.input]->shape;
    if (args.inputs[p.input]->dtype != out.dtype || p.window.strides != out.strides ||
        in != shape || !std::equal(shape.begin(), shape.end() - 1, out.shape.begin()) ||
        shape.back() == 0 || begin + shape.back() > out.shape.back() || !fill_to(begin))
      return {};
    rows.push_back({begin, shape.back(), 0, p.input});
    end = begin + shape.back();
  }
  const bool known = ground != Ground::kInput ||
                     (args.inputs[0]->dtype == out.dtype && args.inputs[0]->shape == out.shape);
  return known && fill_to(out.shape.back()) ? rows : std::vector<RowPart>();
}

class Parts final : public HostKernel, public TracedKernel {
 public:
  Parts(const KernelArgs& args, const std::vector<Part>& parts, Ground ground)
      : rows_(row_parts_of(args, parts, ground)), output_(args.inputs.size()) {
    const TensorType& out = *args.outputs[0];
    if (ground == Ground::kZeros) zeros_.emplace(out);
    if (ground == Ground::kInput) laid_.push_back({StridedCast(out, *args.inputs[0]), 0, 0});
    for (const Part& p : parts)
      laid_.push_back({StridedCast(p.window, *args.inputs[p.input]), p.input, p.offset_bytes});
  }
  const TracedKernel* traced() const override { return rows_.empty() ? nullptr : this; }
  Traced trace(std::span<const Traced> /*inputs*/) const override { return {}; }
  std::span<const RowPart> row_parts() const override { return rows_; }

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
  const std::vector<RowPart> rows_;
  std::optional<StridedFill> zeros_;
  std::vector<Laid> laid_;
  size_t output_;
};

}  // namespace

[[gnu::cold]] Prepared prepare_parts(const KernelArgs& args, const std::vector<Part>& parts,
                                     Ground ground) {
  SHW_RETURN_IF_ERROR(check_parts(args, parts, ground));
  return make_kernel<Parts>(args, parts, ground);
}

}  // namespace shw::runtime::cpu
