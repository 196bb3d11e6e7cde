// A problem that the reference planner exported (tests/data/problems), as far as tests need it: its
// graph in our data structures, its strategies in our notation, its costs and its solution.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "placement/constraints.h"
#include "sharding/layout.h"
#include "strategy/strategies.h"

namespace shw::testing {

class ReferenceProblem {
 public:
  explicit ReferenceProblem(const std::string& path);

  Graph graph;  // after the rewrites, without an output node
  std::string mesh;
  double objective = 0;
  std::vector<uint32_t> chosen;  // strategy by node
  // The settings that the exporter stated: the layouts of inputs and outputs, and the dtype in
  // which gradients are reduced.
  PlacementConstraints constraints;

  uint32_t num_nodes() const { return graph.num_nodes(); }
  std::vector<std::string> strategies(NodeId n) const;  // "(S(0)R, RS(1)) -> S(0)S(1)"
  std::vector<double> compute(NodeId n) const;
  // Communication plus transition costs. Rows are the node's own strategies, columns the
  // producer's. Forbidden pairs are infinite.
  std::vector<std::vector<double>> edge(NodeId n, size_t slot) const;
  bool no_comm(NodeId n, size_t slot) const;
  size_t num_slots(NodeId n) const { return json_["nodes"][n.v]["inputs"].size(); }

 private:
  const nlohmann::json& root(NodeId n) const;
  nlohmann::json json_;
};

}  // namespace shw::testing
