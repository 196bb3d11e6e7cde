// Keep or compute again: the choice with the fewest kept bytes, as a smallest cut.
#pragma once
#include <cstdint>
#include <vector>

#include "recompute/joint.h"
#include "recompute/rules.h"

namespace shw {

// By storage of the program: whether the backward half computes it again instead of reading what
// the forward half left. Minimises kept bytes plus the prices of repeated steps, exactly.
std::vector<uint8_t> storages_to_repeat(const Joint& joint, const std::vector<StepRule>& rules);

}  // namespace shw
