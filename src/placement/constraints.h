// Side conditions of the placement, brought into the four forms that the solver knows: labels that
// are allowed, pairs that are allowed, edges that may not communicate, and linear budgets
// (planner.md 3.3, 3.4).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "placement/pins.h"
#include "strategy/strategies.h"

namespace shw {

struct ParameterBudget {
  enum class Kind : uint8_t { kSmallest = 0, kNone = 1, kFactor = 2 };
  Kind kind = Kind::kSmallest;  // every parameter at its smallest share: what the reference's
                                // default comes to
  double factor = 0;            // kFactor: mean share of a parameter that a rank may hold
};

struct AllowedLabels {
  NodeId node;
  std::vector<bool> allowed;  // by strategy
  std::string why;
  uint32_t source = 0;  // of SideConditions::sources
};

// Of the inputs or outputs that a name matches, in which * and ? stand for anything: "input.0",
// "grad.*".
struct BoundaryLayout {
  std::string name;
  std::optional<Layout> layout;  // nullopt: free
  std::string text;              // as it was written: "input.0=S(0)R"
};

struct PlacementConstraints {
  std::optional<Layout> input_layout;   // of every input of role kInput; nullopt: free
  std::optional<Layout> output_layout;  // of every result; nullopt: free
  // Of single ones, in the place of those. Of several that match, the last counts. Parameters whose
  // layout is given here do not count in the budget.
  std::vector<BoundaryLayout> inputs, outputs;
  std::vector<Pin> pins;  // parameters with one layout given do not count in the budget
  std::vector<AllowedLabels> choices;  // strategies left to single nodes: pins of another kind
  ParameterBudget parameter_budget;
  std::optional<Dtype>
      grad_reduce_dtype;  // larger than the parameters': reduce gradients after the up-cast
  int64_t memory_limit_bytes = 0;  // of what a rank holds at any point (memory.h); 0: none
  // Of all these, and of what always holds, left out: by the names of SideConditions::sources, in
  // which * and ? stand for anything.
  std::vector<std::string> without;
};

// What holds unless it is left out; named as in reports of conflicts.
inline constexpr std::string_view kGradientsAlike =
    "gradients lie as what they are the gradients of";
inline constexpr std::string_view kCastsFirst = "casts come before gathers and reductions";

// Strategies of two nodes go together where their classes are equal and not kNoClass.
struct AllowedPairs {
  static constexpr uint32_t kNoClass = UINT32_MAX;
  NodeId a, b;
  std::vector<uint32_t> class_a, class_b;  // by strategy
  std::string why;
  uint32_t source = 0;
};

// What the strategies of these nodes use adds up to `limit` at most.
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
  std::vector<std::string> sources;  // what was asked for, as users know it: "pin 'x=S(0)R'"
  std::vector<AllowedLabels> labels;
  std::vector<AllowedPairs> pairs;
  std::vector<LinearBudget> budgets;
  std::vector<bool> no_comm;  // by node: its operands may not be redistributed by communication
  uint32_t no_comm_source = UINT32_MAX;  // UINT32_MAX: left out
};

Result<SideConditions> side_conditions(const Graph& graph, const Mesh& mesh,
                                       const Strategies& strategies,
                                       const PlacementConstraints& constraints);

}  // namespace shw
