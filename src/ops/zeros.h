// Rules of factories under `full`: zeros on every rank are a valid partial sum, whose total is
// zero. So an op that adds partial sums to new zeros (index_put, scatter_add) can return a partial
// sum. Then only its result is reduced, instead of each of its operands.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// Adds rules for a factory whose attribute `fill_value` is 0; adds none for others.
void parts_of_zeros(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);

}  // namespace shw::ops
