// repeat(x): repeats x attrs.repeats times in each dim; added dims come first.
#include "runtime/cpu/cast.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/odometer.h"
#include "runtime/padded_windows.h"

namespace shw::runtime::cpu {
namespace {

class Repeat final : public HostKernel {
 public:
  Repeat(const TensorType& in, const TensorType& out, const Dims& repeats, size_t output)
      : repeats_(repeats), output_(output) {
    TensorType window = out;  // one of the copies
    const size_t added = out.shape.size() - in.shape.size();
    for (size_t d = 0; d < out.shape.size(); ++d) {
      window.shape[d] = d < added ? 1 : in.shape[d - added];
      strides_[0].push_back(window.shape[d] * out.strides[d] * dtype_size(out.dtype));
    }
    for (size_t d = 0; d < added; ++d) {
      window.shape.erase(0);
      window.strides.erase(0);
    }
    copy_ = StridedCast(window, in);
  }
  Status compute(void* const* buffers) noexcept override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    for_each_offset(repeats_, strides_,
                    [&](const std::array<int64_t, 1>& at) { copy_.run(out + at[0], buffers[0]); });
    return {};
  }

 private:
  Dims repeats_;
  std::array<Dims, 1> strides_;  // from one copy to the next
  StridedCast copy_;
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const Dims repeats, repeats_of(args));
  return make_kernel<Repeat>(*args.inputs[0], *args.outputs[0], repeats, args.inputs.size());
}

}  // namespace

extern const Kernel kRepeat;
constinit const Kernel kRepeat = {"repeat", prepare};

}  // namespace shw::runtime::cpu
