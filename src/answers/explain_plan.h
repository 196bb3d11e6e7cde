// A plan as a whole: what it costs, which edges pay most, and how far the world may change before
// another plan is better.
#pragma once
#include <string>
#include <vector>

#include "answers/edges.h"
#include "answers/ranges.h"
#include "compiler/planner.h"

namespace shw::answers {

// Edges alike: into one module, or its like of other layers; between the same ops and layouts.
struct EdgeGroup {
  std::string module;              // of the consumers: "layers.*.attention.wq"; empty: none
  std::string producer, consumer;  // ops
  std::string from, to;
  uint32_t count = 0;
  double comm_us = 0;  // of all
};

struct PlanExplanation {
  NodeCost total;
  double objective_us = 0, bound_us = 0;
  bool proven = false;
  size_t paying_edges = 0;         // those that communicate
  std::vector<EdgePrice> dearest;  // the dearest of them
  std::vector<EdgeGroup> groups;   // of all of them, the dearest first
  CommunicationRange communication;
  MemoryRange memory;
};

Result<PlanExplanation> explain_plan(Planner& planner, const PlacementConstraints& constraints,
                                     const solver::SolveOptions& options, Monitor& monitor);

std::string to_json(const PlanExplanation& explanation);
std::string to_text(const PlanExplanation& explanation);

}  // namespace shw::answers
