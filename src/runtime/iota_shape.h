// iota: attrs.start, start + attrs.step, …, attrs.length numbers.
#pragma once
#include "runtime/step_args.h"

namespace shw::runtime {

inline Status check_iota(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 0));
  const TensorType& out = *args.outputs[0];
  if (out.rank() == 1 && args.attrs.get_int(AttrKey::kLength, -1) == out.shape[0] &&
      !is_complex(out.dtype))
    return {};
  return bad_types("the length is not that of " + to_string(out));
}

}  // namespace shw::runtime
