// Factories under `full`: zeros on every rank are parts of a sum that is zero. So what adds partial
// sums to new zeros (index_put, scatter_add) leaves a partial sum, and what is reduced is the
// result in place of all that went into it.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// Of a factory whose attribute `fill_value` is 0; none of another.
void parts_of_zeros(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);

}  // namespace shw::ops
