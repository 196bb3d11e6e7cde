// Shared by max, min, argmax and argmin: the extreme value along `dim`, and its index.
#pragma once
#include "ops/families.h"

namespace shw::ops {

Results infer_extreme(const OpArgs& args);           // values, places
Results infer_place_of_extreme(const OpArgs& args);  // places; without `dim` in the whole tensor
// The other dims may be sharded.
void place_of_extreme_rules(const OpArgs& args, std::span<const OptionalType> results,
                            RuleSet& rules);

}  // namespace shw::ops
