// Kernels that only move data: one input, one output, the same elements.
#pragma once
#include "runtime/cpu/cast.h"
#include "runtime/cpu/codegen/formula.h"
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

class MoveKernel final : public HostKernel, public TracedKernel {
 public:
  MoveKernel(const TensorType& to, const TensorType& from, size_t num_inputs)
      : cast_(to, from),
        output_(num_inputs),
        converts_(from.dtype != to.dtype && in_compiled_loops(from.dtype) &&
                  in_compiled_loops(to.dtype)) {}
  // Conversions between f32 and bf16 have a formula.
  const TracedKernel* traced() const override { return converts_ ? this : nullptr; }
  Traced trace(std::span<const Traced> inputs) const override { return inputs[0]; }
  Status compute(void* const* buffers) noexcept override {
    cast_.run(buffers[output_], buffers[0]);
    return {};
  }

 private:
  StridedCast cast_;
  size_t output_;
  bool converts_;
};

// The input's elements in the output's dtype and strides.
inline Prepared prepare_move(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &from = *args.inputs[0], &to = *args.outputs[0];
  if (from.shape != to.shape)
    return bad_types(to_string(from) + " does not have the shape of " + to_string(to));
  return make_kernel<MoveKernel>(to, from, args.inputs.size());
}

}  // namespace shw::runtime::cpu
