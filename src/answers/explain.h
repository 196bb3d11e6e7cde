// Explains a node's layout: the cost of its strategy, the edges that communicate, and what every
// other layout of its result would cost. Each other layout has a floor, which is a lower bound and
// available at once, and an exact price, which requires another solve with the layout forced.
//
// Forcing a layout has the same effect as a pin (placement/constraints.h): a pinned parameter does
// not count against the parameter budget, so forcing one may even cost less than the plan. Floors
// refer to the problem without that node in the budget; no forced plan is cheaper than its floor.
//
// Prices are those of the plan: a change of layout that its program makes once for several uses
// counts once, and no other changes are shared (compiler/share_changes.h). A plan made with the pin
// from the start may share other changes of layout, and then costs less than the forced one.
//
// --overlap simulated: the plan is the fastest found (compiler/fastest.h). The plan, the edges, the
// floors and the forced plans are all priced as in the search that found it; these prices count
// only a share of each edge. The simulated step of each forced plan is reported, too. A plan of a
// recipe was found at the graph's own prices, and need not be the cheapest at them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/edges.h"
#include "compiler/constrained_model.h"

namespace shw::answers {

struct ExplainRequest {
  std::string node;             // see nodes.h
  std::string layout = {};      // to be forced regardless of its floor; empty: none
  uint32_t forced_layouts = 3;  // at least this many are forced, by increasing floor
};

// The optimum with one layout forced.
struct Forced {
  bool possible = false;  // false: no plan has this layout
  double objective_us = 0, bound_us = 0;
  bool proven = false;
  std::string strategy;        // of the node
  uint32_t changed_nodes = 0;  // nodes with another strategy than in the plan
  double step_us = -1;         // simulated; negative: not requested
};

// A layout of the node's result (of its first tensor, for a tuple), in any shard order.
struct Alternative {
  std::string layout;
  bool chosen = false;
  uint32_t num_strategies = 0;
  double floor_us = 0;  // no plan with this layout is cheaper; infinite: none exists
  std::optional<Forced> forced;
};

// The reference planner's classification of an alternative, from the objectives of both
// plans: CHOSEN, TIE (within 0.01 µs), TARGET CHEAPER (a pinned parameter leaves the
// budget), CHOSEN CHEAPER, or UNAVAILABLE (no plan has it). If it was not forced, its floor
// decides; empty if that is not conclusive.
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
  double step_us = -1;      // of the plan, simulated; negative: not requested
  double certified_us = 0;  // the bound of the certificate that the floors are derived from
  std::vector<Alternative> alternatives;  // by increasing floor
  std::vector<StrategyFloor> strategies;  // likewise
  // Index of the cheapest alternative that was not chosen. Exact: all other floors are higher.
  // nullopt: there is none, or time ran out.
  std::optional<size_t> second_best;
};

// Solves the problem, then once for every forced layout while
// time permits.
Result<Explanation> explain(const ConstrainedModel& model, const ExplainRequest& request,
                            const solver::SolveOptions& options, Monitor& monitor);

std::string to_json(const Explanation& explanation);
std::string to_text(const Explanation& explanation);

}  // namespace shw::answers
