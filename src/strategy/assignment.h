// The planner's answer: for each node, the layout of every result and the required layout of every
// operand.
#pragma once
#include <span>
#include <vector>

#include "graph/graph.h"
#include "sharding/layout.h"

namespace shw {

class Assignment {
 public:
  explicit Assignment(const Graph& graph) : first_(graph.num_nodes() + 1, 0) {
    for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
      const Node& n = graph.node(NodeId{i});
      num_results_.push_back(n.num_results);
      first_[i + 1] = first_[i] + n.num_results + n.num_operands;
    }
    layouts_.resize(first_.back());
  }
  // Absent results and operands keep the default (replicated).
  std::span<Layout> results(NodeId n) { return {layouts_.data() + first_[n.v], num_results_[n.v]}; }
  std::span<const Layout> results(NodeId n) const {
    return {layouts_.data() + first_[n.v], num_results_[n.v]};
  }
  std::span<Layout> operands(NodeId n) {
    return {layouts_.data() + first_[n.v] + num_results_[n.v],
            first_[n.v + 1] - first_[n.v] - num_results_[n.v]};
  }
  std::span<const Layout> operands(NodeId n) const {
    return {layouts_.data() + first_[n.v] + num_results_[n.v],
            first_[n.v + 1] - first_[n.v] - num_results_[n.v]};
  }

 private:
  std::vector<uint32_t> first_, num_results_;
  std::vector<Layout> layouts_;
};

}  // namespace shw
