// Constraints of the placement, translated into the four forms that the solver knows: allowed
// labels, allowed pairs, edges that may not communicate, and linear budgets.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "placement/pins.h"
#include "strategy/order_rule.h"
#include "strategy/strategies.h"

namespace shw {

struct ParameterBudget {
  enum class Kind : uint8_t { kSmallest = 0, kNone = 1, kFactor = 2 };
  // Every parameter at its smallest share; equivalent to the reference planner's default.
  Kind kind = Kind::kSmallest;
  double factor = 0;  // kFactor: the mean share of a parameter that a rank may hold
};

struct AllowedLabels {
  NodeId node;
  std::vector<bool> allowed;  // by strategy
  std::string why;
  uint32_t source = 0;  // index into SideConditions::sources
  // For saved placements: the layouts as saved; those of absent tensors are replicated.
  std::vector<Layout> results{}, operands{};
};

// The layout of the inputs or outputs whose name matches a pattern ("input.0", "grad.*"); * and ?
// match as in file names.
struct BoundaryLayout {
  std::string name;
  std::optional<LayoutRule> layout;  // exact; nullopt: free
  std::string text;                  // as the user wrote it: "input.0=S(0)R"
};

struct PlacementConstraints {
  // Exact rules: of every input of role kInput, and of every result; nullopt: free.
  std::optional<LayoutRule> input_layout, output_layout;
  // Layouts of individual ports; these override the two above. If several match, the last one
  // applies. A parameter whose layout is given here does not count against the budget.
  std::vector<BoundaryLayout> inputs, outputs;
  std::vector<Pin> pins;  // parameters pinned to one layout do not count against the budget
  std::vector<AllowedLabels>
      choices;  // the allowed strategies of individual nodes, from sources other than pins
  ParameterBudget parameter_budget;
  std::optional<Dtype>
      grad_reduce_dtype;  // larger than the parameters' dtype: reduce gradients after the up-cast
  int64_t memory_limit_bytes = 0;  // for what a rank holds at any point (memory.h); 0: none
  // Names of constraints to drop, user-defined and built-in: the names in SideConditions::sources,
  // with * and ? as wildcards.
  std::vector<std::string> without;
  // The strategies have default shard orders only; others are chosen after the solve, and
  // SideConditions::orders restricts them.
  bool orders_later = false;
};

// Constraints that hold unless dropped, by their names in conflict reports.
inline constexpr std::string_view kGradientsAlike =
    "gradients have the layouts of their parameters";
inline constexpr std::string_view kCastsFirst = "casts come before gathers and reductions";

// Strategies of two nodes are compatible if their classes are equal and not kNoClass.
struct AllowedPairs {
  static constexpr uint32_t kNoClass = UINT32_MAX;
  NodeId a, b;
  std::vector<uint32_t> class_a, class_b;  // by strategy
  std::string why;
  uint32_t source = 0;
};

// The total usage of the nodes' strategies is at most `limit`.
struct LinearBudget {
  struct Term {
    NodeId node;
    std::vector<double> usage;  // by strategy
  };
  double limit = 0;
  std::vector<Term> terms;
  std::string why;
  uint32_t source = 0;
};

struct SideConditions {
  std::vector<std::string> sources;  // what was requested, in the user's words: "pin 'x=S(0)R'"
  std::vector<AllowedLabels> labels;
  std::vector<AllowedPairs> pairs;
  std::vector<LinearBudget> budgets;
  std::vector<OrderRule> orders;
  std::vector<bool> no_comm;  // by node: its operands may not be redistributed by communication
  uint32_t no_comm_source = UINT32_MAX;  // UINT32_MAX: dropped
};

// Nodes for which pins or layouts of ports state a shard order, ascending.
std::vector<NodeId> nodes_with_stated_orders(const Graph& graph,
                                             const PlacementConstraints& constraints);

Result<SideConditions> side_conditions(const Graph& graph, const Mesh& mesh,
                                       const Strategies& strategies,
                                       const PlacementConstraints& constraints);

}  // namespace shw
