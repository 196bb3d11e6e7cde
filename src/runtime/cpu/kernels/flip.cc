// flip(x): reverses the elements along attrs.dims.
#include <cstring>

#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/odometer.h"
#include "runtime/padded_windows.h"

namespace shw::runtime::cpu {
namespace {

class Flip final : public HostKernel {
 public:
  Flip(const TensorType& in, const TensorType& out, uint32_t turned, size_t output)
      : shape_(out.shape), item_(static_cast<size_t>(dtype_size(in.dtype))), output_(output) {
    strides_ = {leading_strides_bytes(in, shape_.size()),
                leading_strides_bytes(out, shape_.size())};
    for (size_t d = 0; d < shape_.size(); ++d) {
      if (!(turned >> d & 1) || shape_[d] == 0) continue;
      last_bytes_ += (shape_[d] - 1) * strides_[0][d];
      strides_[0][d] = -strides_[0][d];
    }
  }
  Status compute(void* const* buffers) noexcept override {
    const auto* in = static_cast<const std::byte*>(buffers[0]) + last_bytes_;
    auto* out = static_cast<std::byte*>(buffers[output_]);
    for_each_offset(shape_, strides_, [&](const std::array<int64_t, 2>& at) {
      std::memcpy(out + at[1], in + at[0], item_);
    });
    return {};
  }

 private:
  Dims shape_;
  size_t item_, output_;
  std::array<Dims, 2> strides_;
  int64_t last_bytes_ = 0;  // where the reversed read begins
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const uint32_t turned, flipped_dims(args));
  return make_kernel<Flip>(*args.inputs[0], *args.outputs[0], turned, args.inputs.size());
}

}  // namespace

extern const Kernel kFlip;
constinit const Kernel kFlip = {"flip", prepare};

}  // namespace shw::runtime::cpu
