// The edges incident to each variable, in one array.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "solver/problem.h"

namespace shw::solver {

class Adjacency {
 public:
  struct Arc {
    uint32_t other, edge;
  };
  explicit Adjacency(const PlacementProblem& problem) : first_(problem.num_variables() + 1, 0) {
    for (const auto& e : problem.edges()) ++first_[e.a], ++first_[e.b];
    uint32_t sum = 0;
    for (uint32_t& f : first_) sum += f, f = sum;
    arcs_.resize(sum);
    const auto edges = problem.edges();
    for (auto i = static_cast<uint32_t>(edges.size()); i-- > 0;) {
      arcs_[--first_[edges[i].a]] = {edges[i].b, i};
      arcs_[--first_[edges[i].b]] = {edges[i].a, i};
    }
  }
  std::span<const Arc> of(uint32_t v) const {
    return {arcs_.data() + first_[v], first_[v + 1] - first_[v]};
  }

 private:
  std::vector<uint32_t> first_;
  std::vector<Arc> arcs_;
};

}  // namespace shw::solver
