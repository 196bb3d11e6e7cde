// Kernels that move data, and nothing else: one input, one output, the same elements.
#pragma once
#include "runtime/cpu/cast.h"
#include "runtime/cpu/codegen/formula.h"
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

class MoveKernel final : public HostKernel, public TracedKernel {
 public:
  // `offset_bytes`: of the first element that is read.
  MoveKernel(const TensorType& to, const TensorType& from, int64_t offset_bytes, size_t num_inputs)
      : cast_(to, from), offset_bytes_(offset_bytes), output_(num_inputs) {
    const auto is_traced = [](Dtype dtype) {
      return dtype == Dtype::kF32 || dtype == Dtype::kBF16;
    };
    converts_ =
        offset_bytes == 0 && from.dtype != to.dtype && is_traced(from.dtype) && is_traced(to.dtype);
  }
  // Of conversions between f32 and bf16.
  const TracedKernel* traced() const override { return converts_ ? this : nullptr; }
  Traced trace(std::span<const Traced> inputs) const override { return inputs[0]; }
  Status compute(void* const* buffers) noexcept override {
    cast_.run(buffers[output_], static_cast<const std::byte*>(buffers[0]) + offset_bytes_);
    return {};
  }

 private:
  StridedCast cast_;
  int64_t offset_bytes_;
  size_t output_;
  bool converts_ = false;
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
