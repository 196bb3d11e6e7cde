// Kernels that move data, and nothing else: one input, one output, the same elements.
#pragma once
#include "runtime/cpu/cast.h"
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

class MoveKernel final : public HostKernel {
 public:
  // `offset_bytes`: of the first element that is read.
  MoveKernel(const TensorType& to, const TensorType& from, int64_t offset_bytes, size_t num_inputs)
      : cast_(to, from), offset_bytes_(offset_bytes), output_(num_inputs) {}
  Status compute(void* const* buffers) noexcept override {
    cast_.run(buffers[output_], static_cast<const std::byte*>(buffers[0]) + offset_bytes_);
    return {};
  }

 private:
  StridedCast cast_;
  int64_t offset_bytes_;
  size_t output_;
};

// The input's elements in the output's dtype and strides.
inline Prepared prepare_move(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &from = *args.inputs[0], &to = *args.outputs[0];
  if (from.shape != to.shape)
    return bad_types(to_string(from) + " does not have the shape of " + to_string(to));
  return make_kernel<MoveKernel>(to, from, 0, args.inputs.size());
}

}  // namespace shw::runtime::cpu
