// Ops whose integer operand names places along one dim of another: gather, scatter, index_select.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// Integers of the rank of operand 0, in no other dim than attribute `dim` longer than it. Gives the
// dim.
Result<size_t> lookup_dim(const OpArgs& args, size_t index);
Status want_index_dtype(const TensorType& index);

// Of ops that change elements of operand 0 where operand 1, the indices, points: the other dims go
// side by side; under `full` each rank changes what lies in its own block of `dim`.
void scatter_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);
void scatter_full_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);

}  // namespace shw::ops
