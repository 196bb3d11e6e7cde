// How two plans differ: what they cost, hold and send, and which nodes lie otherwise. Everything
// comes from the plans alone, so they may be of other meshes, rules or hardware; nodes go by their
// names.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/report.h"

namespace shw::answers {

struct PlanFigures {
  std::string mesh, hardware, rules;
  double objective_us = 0, compute_us = 0, comm_us = 0, transition_us = 0;
  bool proven = false;
  int64_t parameter_bytes = 0, gradient_bytes = 0, arena_bytes = 0;  // of one rank
  int64_t memory_peak_bytes = 0;                // as the planner counts it; 0: not known
  std::map<std::string, int64_t> peak_by_kind;  // "activations" → of these; empty: not known
  std::map<std::string, CollectiveTotal> collectives;
};

// Nodes whose result went from one layout to another.
struct LayoutChange {
  std::string from, to;
  std::vector<std::string> nodes;
};

struct PlanDiff {
  PlanFigures before, after;
  std::vector<LayoutChange> changes;       // those of most nodes first
  std::vector<std::string> operands_only;  // nodes with the same result from other operands
  uint32_t unchanged = 0;
  std::vector<std::string> only_before, only_after;  // nodes of one plan
};

PlanDiff plan_diff(const Plan& before, const Plan& after);

std::string to_json(const PlanDiff& diff);
// With the names of all nodes that changed, or without.
std::string to_text(const PlanDiff& diff, bool with_nodes);

}  // namespace shw::answers
