// extend: a copy, extended by zeros at the end of the dims in which the result is larger.
#include "runtime/cpu/cast.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/padded_windows.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

class Extend final : public HostKernel {
 public:
  Extend(const TensorType& in, const TensorType& out, size_t output)
      : zero_(out), copy_({in.shape, out.strides, out.dtype}, in), output_(output) {}
  Status compute(void* const* buffers) noexcept override {
    zero_.run(buffers[output_]);
    copy_.run(buffers[output_], buffers[0]);
    return {};
  }

 private:
  StridedFill zero_;
  StridedCast copy_;
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  SHW_RETURN_IF_ERROR(check_extended(args));
  return make_kernel<Extend>(in, out, args.inputs.size());
}

}  // namespace

extern const Kernel kExtend;
constinit const Kernel kExtend = {"extend", prepare};

}  // namespace shw::runtime::cpu
