// A plan as a whole: what it costs, which edges pay most, and how far the world may change before
// another plan is better.
#pragma once
#include <string>
#include <vector>

#include "answers/edges.h"
#include "answers/ranges.h"
#include "compiler/planner.h"

namespace shw::answers {

struct PlanExplanation {
  NodeCost total;
  double objective_us = 0, bound_us = 0;
  bool proven = false;
  size_t paying_edges = 0;         // those that communicate
  std::vector<EdgePrice> dearest;  // the dearest of them
  CommunicationRange communication;
  MemoryRange memory;
};

Result<PlanExplanation> explain_plan(Planner& planner, const PlacementConstraints& constraints,
                                     const solver::SolveOptions& options, Monitor& monitor);

std::string to_json(const PlanExplanation& explanation);
std::string to_text(const PlanExplanation& explanation);

}  // namespace shw::answers
