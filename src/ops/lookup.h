// Ops whose integer operand names places along one dim of another: gather, scatter, index_select.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// Integers of the rank of operand 0, in no other dim than attribute `dim` longer than it. Gives the
// dim.
Result<size_t> lookup_dim(const OpArgs& args, size_t index);
Status want_index_dtype(const TensorType& index);

}  // namespace shw::ops
