// Which dims a squeeze takes away: for inference, and for lowering it to a window.
#pragma once
#include "ops/op_def.h"

namespace shw::ops {

// By dim, of a tensor of that shape: those of size 1 that attribute `dim` or `dims` names; without
// either, all of size 1.
Result<std::vector<bool>> squeezed_dims(const Attrs& attrs, const Dims& shape);

}  // namespace shw::ops
