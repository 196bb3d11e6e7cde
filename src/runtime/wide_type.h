// Products that are scaled, or to which a tensor is added: addmm, baddbmm, scaled_mm.
#pragma once
#include "runtime/step_args.h"
#include "runtime/strided.h"

namespace shw::runtime {

// The type of the product before it is scaled or added: f32 instead of narrower floats, so that the
// result is rounded only once.
inline TensorType wide_type(const TensorType& out) {
  const bool is_narrow = is_floating(out.dtype) && out.dtype != Dtype::kF64;
  return row_major(is_narrow ? Dtype::kF32 : out.dtype, out.shape);
}

// scaled_mm(a, b, scale_a, scale_b, bias?): (a×b)·scale_a·scale_b + bias. Returns the type in which
// a×b is computed.
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
