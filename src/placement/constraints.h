// Side conditions of the placement, brought into the three forms that the solver knows: labels that
// are allowed, pairs that are allowed, and edges that may not communicate (planner.md 3.3, 3.4).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "strategy/strategies.h"

namespace shw {

struct ParameterBudget {
  enum class Kind : uint8_t { kSmallest = 0, kNone = 1, kFactor = 2 };
  Kind kind = Kind::kSmallest;  // every parameter at its smallest share: what the reference's
                                // default comes to
  double factor = 0;            // kFactor: mean share of a parameter that a rank may hold
};

struct PlacementConstraints {
  std::optional<Layout> input_layout;   // of every input of role kInput; nullopt: free
  std::optional<Layout> output_layout;  // of every result; nullopt: free
  ParameterBudget parameter_budget;
  std::optional<Dtype>
      grad_reduce_dtype;  // larger than the parameters': reduce gradients after the up-cast
};

struct AllowedLabels {
  NodeId node;
  std::vector<bool> allowed;  // by strategy
  std::string why;
};
struct AllowedPairs {  // strategy of `a` → the one strategy of `b` that goes with it; UINT32_MAX:
                       // not allowed
  NodeId a, b;
  std::vector<uint32_t> partner;
  std::string why;
};

struct SideConditions {
  std::vector<AllowedLabels> labels;
  std::vector<AllowedPairs> pairs;
  std::vector<bool> no_comm;  // by node: its operands may not be redistributed by communication
};

Result<SideConditions> side_conditions(const Graph& graph, const Mesh& mesh,
                                       const Strategies& strategies,
                                       const PlacementConstraints& constraints);

}  // namespace shw
