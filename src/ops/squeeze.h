// The dims that a squeeze removes; for inference, and for lowering it to a window.
#pragma once
#include "ops/op_def.h"

namespace shw::ops {

// By dim, for a tensor of that shape: those of size 1 named by attribute `dim` or `dims`; without
// either, all of size 1.
Result<std::vector<bool>> squeezed_dims(const Attrs& attrs, const Dims& shape);

}  // namespace shw::ops
