// Ops whose integer operand holds indices along one dim of another: gather, scatter, index_select.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// Validates integers of the rank of operand 0 that are not longer than it in any dim other than
// `dim`. Returns the dim.
Result<size_t> lookup_dim(const OpArgs& args, size_t index);
Status want_index_dtype(const TensorType& index);

// For ops that change elements of operand 0 at the indices in operand 1: the other dims are sharded
// alike; under `full`, each rank updates its own block of `dim`.
void scatter_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);
void scatter_full_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);

}  // namespace shw::ops
