// What a policy and the tags of the graph allow for each forward step.
#pragma once
#include <vector>

#include "graph/graph.h"
#include "recompute/joint.h"
#include "recompute/policy.h"

namespace shw {

struct StepRule {
  bool may_repeat = false;  // in the backward half
  bool may_keep = true;     // its results, from the forward to the backward half
  int64_t price_bytes = 0;  // the price of a repetition, in kept bytes
  int32_t block = -1;       // -1: of none
};

// With the policy auto, price_bytes per microsecond.
inline constexpr double kAutoBytesPerUs = 1e3;

// By step of the entry; rules for steps of the backward half have no meaning. `graph` is the one
// that the program was lowered from.
std::vector<StepRule> step_rules(const Joint& joint, const Graph& graph,
                                 const RecomputePolicy& policy);

}  // namespace shw
