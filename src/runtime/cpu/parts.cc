#include "runtime/cpu/parts.h"

#include <optional>

#include "runtime/cpu/cast.h"

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

}  // namespace

[[gnu::cold]] Prepared prepare_parts(const KernelArgs& args, const std::vector<Part>& parts,
                                     Ground ground) {
  SHW_RETURN_IF_ERROR(check_parts(args, parts, ground));
  return make_kernel<Parts>(args, parts, ground);
}

}  // namespace shw::runtime::cpu
