// The amounts that constant_pad_nd adds to each dim.
#pragma once
#include "ops/op_def.h"

namespace shw::ops {

struct Padding {
  Dims before, behind;  // per dim; negative: cut off
  Dims shape;           // of the result
};
// From attribute `pad`, for a tensor of that shape.
Result<Padding> padding_of(const Attrs& attrs, const Dims& shape);

}  // namespace shw::ops
