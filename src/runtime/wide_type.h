// Products that are scaled or added to: addmm, baddbmm, scaled_mm.
#pragma once
#include "runtime/step_args.h"
#include "runtime/strided.h"

namespace shw::runtime {

// What such a product is computed in before that: f32 for narrower floats, so that the result
// is rounded once.
inline TensorType wide_type(const TensorType& out) {
  const bool is_narrow = is_floating(out.dtype) && out.dtype != Dtype::kF64;
  return row_major(is_narrow ? Dtype::kF32 : out.dtype, out.shape);
}

// scaled_mm(a, b, scale_a, scale_b, bias?): (a×b)·scale_a·scale_b + bias. What a×b is computed in.
inline Result<TensorType> scaled_product_type(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 4));
  const TensorType& out = *args.outputs[0];
  if (!is_floating(out.dtype)) return bad_types("no scaled product in " + to_string(out));
  SHW_RETURN_IF_ERROR(check_size({out.numel()}));
  for (size_t i = 2; i < args.inputs.size(); ++i)
    if (args.inputs[i] != nullptr && !broadcasts_to(args.inputs[i]->shape, out.shape))
      return bad_types(to_string(*args.inputs[i]) + " does not broadcast to " + to_string(out));
  return wide_type(out);
}

}  // namespace shw::runtime
