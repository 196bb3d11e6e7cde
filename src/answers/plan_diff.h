// Compares two plans: cost, memory, communication, and nodes whose layouts differ. Uses only the
// plans themselves, so they may have different meshes, rules or hardware; nodes are matched by
// name.
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
  int64_t memory_peak_bytes = 0;  // as modelled by the planner; 0: unknown
  std::map<std::string, int64_t>
      peak_by_kind;  // kind ("activations") → bytes at the peak; empty: unknown
  std::map<std::string, CollectiveTotal> collectives;
};

// Nodes whose result changed from one layout to another.
struct LayoutChange {
  std::string from, to;
  std::vector<std::string> nodes;
};

struct PlanDiff {
  PlanFigures before, after;
  std::vector<LayoutChange> changes;  // by decreasing number of nodes
  std::vector<std::string>
      operands_only;  // nodes with the same result layout but other operand layouts
  uint32_t unchanged = 0;
  std::vector<std::string> only_before, only_after;  // nodes of one plan only
};

PlanDiff plan_diff(const Plan& before, const Plan& after);

std::string to_json(const PlanDiff& diff);
// `with_nodes`: lists the names of all nodes that changed.
std::string to_text(const PlanDiff& diff, bool with_nodes);

}  // namespace shw::answers
