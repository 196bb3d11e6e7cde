// Chooses which results of the forward half to keep and which to compute again, as a minimum cut.
#pragma once
#include <cstdint>
#include <vector>

#include "recompute/joint.h"
#include "recompute/rules.h"

namespace shw {

// The result says for each storage of the program whether the backward half computes it again
// instead of reading what the forward half left. It minimises the kept bytes plus the prices of the
// repeated steps exactly.
std::vector<uint8_t> storages_to_repeat(const Joint& joint, const std::vector<StepRule>& rules);

}  // namespace shw
