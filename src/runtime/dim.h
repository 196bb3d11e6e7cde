// Attribute `dim` of a step.
#pragma once
#include "runtime/step_args.h"

namespace shw::runtime {

// The dim of `type` that attribute `dim` names. Negative values count from the end; if the
// attribute is absent, `otherwise` is used.
inline Result<size_t> dim_of(const Attrs& attrs, const TensorType& type, int64_t otherwise = 0) {
  int64_t dim = attrs.get_int(AttrKey::kDim, otherwise);
  if (dim < 0) dim += type.rank();
  if (dim < 0 || dim >= type.rank()) return bad_types("no such dim in " + to_string(type));
  return static_cast<size_t>(dim);
}

}  // namespace shw::runtime
