// Why a node lies as it does: what its strategy costs and which edges pay, and what every other
// layout of its result would cost – a floor at once, the exact price after solving again with the
// layout forced.
//
// To force a layout is what a pin does (placement/constraints.h), with the same effects: a pinned
// parameter does not count in the parameter budget, so forcing one may even cost less than the
// plan. Floors are of the problem in which the node is free of the budget in that way; no forced
// plan is cheaper than its floor.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/edges.h"
#include "compiler/planner.h"

namespace shw::answers {

struct ExplainRequest {
  std::string node;             // as nodes.h takes it
  std::string layout = {};      // to be forced whatever its floor; empty: none
  uint32_t forced_layouts = 3;  // at least so many are forced, the cheapest floors first
};

// The optimum with one layout forced.
struct Forced {
  bool possible = false;  // else no plan has it
  double objective_us = 0, bound_us = 0;
  bool proven = false;
  std::string strategy;        // of the node
  uint32_t changed_nodes = 0;  // whose strategy is not the plan's
};

// A layout of the node's result (of a tuple: of its first tensor), in any shard order.
struct Alternative {
  std::string layout;
  bool chosen = false;
  uint32_t num_strategies = 0;
  double floor_us = 0;  // no plan that has it is cheaper; infinite: none has it
  std::optional<Forced> forced;
};

// What the reference planner calls an alternative, from the objectives of both plans (planner.md
// 3.9): CHOSEN, TIE (within 0.01 µs), TARGET CHEAPER (a pinned parameter is free of the budget),
// CHOSEN CHEAPER, or UNAVAILABLE (no plan has it). Where it was not forced, its floor decides, if
// it can; else empty.
std::string_view status_of(const Alternative& alternative, double plan_us);

struct StrategyFloor {
  std::string strategy;  // "(S(0)R, RS(1)) -> S(0)S(1)"
  bool chosen = false;
  double compute_us = 0, floor_us = 0;
};

struct Explanation {
  std::string node, op, module_path, strategy;
  Phase phase = Phase::kForward;
  NodeCost cost;  // of the node and the edges into it
  std::vector<EdgePrice> operands, users;
  double objective_us = 0, bound_us = 0;  // of the plan
  bool proven = false;
  double certified_us = 0;                // the bound of the certificate that the floors come from
  std::vector<Alternative> alternatives;  // the cheapest floor first
  std::vector<StrategyFloor> strategies;  // the same
  // Index of the cheapest alternative that was not chosen; exact: every other floor is above it.
  // None: there is no other, or it was not found in time.
  std::optional<size_t> second_best;
};

// Solves the planner's problem under these constraints, and again for every layout that is forced,
// as long as there is time.
Result<Explanation> explain(Planner& planner, const PlacementConstraints& constraints,
                            const ExplainRequest& request, const solver::SolveOptions& options,
                            Monitor& monitor);

std::string to_json(const Explanation& explanation);
std::string to_text(const Explanation& explanation);

}  // namespace shw::answers
