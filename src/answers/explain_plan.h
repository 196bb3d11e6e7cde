// Explains a whole plan: its cost, its most expensive edges, and how far prices and limits may
// change before another plan is better.
#pragma once
#include <string>
#include <vector>

#include "answers/edges.h"
#include "answers/ranges.h"
#include "compiler/constrained_model.h"

namespace shw::answers {

// Similar edges: same ops and layouts, into the same module or its counterparts in other layers.
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
  size_t paying_edges = 0;         // number of edges that communicate
  std::vector<EdgePrice> dearest;  // the most expensive of them
  std::vector<EdgeGroup> groups;   // all of them in groups, most expensive first
  CommunicationRange communication;
  MemoryRange memory;
};

Result<PlanExplanation> explain_plan(const ConstrainedModel& model,
                                     const solver::SolveOptions& options, Monitor& monitor);

std::string to_json(const PlanExplanation& explanation);
std::string to_text(const PlanExplanation& explanation);

}  // namespace shw::answers
