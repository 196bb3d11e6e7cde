// The graph of an exported problem ("ap-problem-1") and the strategies that the reference planner
// chose in it. Lowering tests thus get realistic layouts that do not depend on our solver.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "strategy/assignment.h"

namespace shw::testing {

struct ReferenceChoice {
  Graph graph;
  Mesh mesh;
  std::optional<Assignment> assignment;
  std::vector<double> compute_us;  // by node
};

Result<ReferenceChoice> read_reference_choice(const std::string& path);

}  // namespace shw::testing
