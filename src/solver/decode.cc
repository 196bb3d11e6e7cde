#include "solver/decode.h"

#include <algorithm>

#include "solver/adjacency.h"

namespace shw::solver {
namespace {

using Arc = Adjacency::Arc;

double cost(const PlacementProblem& problem, const Arc& arc, uint32_t v, uint32_t label,
            uint32_t other_label) {
  const auto& e = problem.edges()[arc.edge];
  return e.a == v ? problem.edge_cost(e, label, other_label)
                  : problem.edge_cost(e, other_label, label);
}

class Decoder {
 public:
  Decoder(const PlacementProblem& problem, Watch& watch)
      : problem_(problem),
        watch_(watch),
        adjacency_(problem),
        choice_(problem.num_variables(), kOpen) {
    const uint32_t n = problem.num_variables();
    allowed_.assign(problem.first_label(n), 1);
    labels_left_.resize(n);
    for (uint32_t v = 0; v < n; ++v) labels_left_[v] = problem.num_labels(v);
    for (uint32_t m = 0; m < problem.matrices().size(); ++m) {
      const auto& shape = problem.matrices()[m];
      const double* c = problem.costs(m);
      forbids_.push_back(std::find(c, c + size_t{shape.rows} * shape.cols, kForbidden) !=
                         c + size_t{shape.rows} * shape.cols);
    }
  }

  Result<std::vector<uint32_t>> run() {
    for (uint32_t v = 0; v < problem_.num_variables(); ++v)
      for (uint32_t x = 0; x < problem_.num_labels(v); ++x)
        if (problem_.unary(v)[x] == kForbidden) drop(v, x);
    for (uint32_t v = 0; v < problem_.num_variables(); ++v) {
      if (labels_left_[v] == 0) return std::vector<uint32_t>{};
      while (choice_[v] == kOpen) {
        const uint32_t x = best_label(v);
        const size_t mark = trail_.size();
        for (uint32_t y = 0; y < problem_.num_labels(v); ++y)
          if (y != x) drop(v, y);
        SHW_ASSIGN_OR_RETURN(const bool consistent, propagate(v));
        if (consistent) {
          choice_[v] = x;
          break;
        }
        undo(mark);
        drop(v, x);
        if (labels_left_[v] == 0) return std::vector<uint32_t>{};
        SHW_ASSIGN_OR_RETURN(const bool still, propagate(v));
        if (!still) return std::vector<uint32_t>{};
      }
    }
    return std::move(choice_);
  }

 private:
  static constexpr uint32_t kOpen = UINT32_MAX;

  void drop(uint32_t v, uint32_t x) {
    uint8_t& flag = allowed_[problem_.first_label(v) + x];
    if (flag == 0) return;
    flag = 0;
    --labels_left_[v];
    trail_.emplace_back(v, x);
  }
  void undo(size_t mark) {
    for (; trail_.size() > mark; trail_.pop_back()) {
      const auto [v, x] = trail_.back();
      allowed_[problem_.first_label(v) + x] = 1;
      ++labels_left_[v];
    }
  }
  bool is_allowed(uint32_t v, uint32_t x) const {
    return allowed_[problem_.first_label(v) + x] != 0;
  }

  uint32_t best_label(uint32_t v) const {
    uint32_t best = kOpen;
    double best_cost = kForbidden;
    for (uint32_t x = 0; x < problem_.num_labels(v); ++x) {
      if (!is_allowed(v, x)) continue;
      double c = problem_.unary(v)[x];
      for (const Arc& arc : adjacency_.of(v))
        if (choice_[arc.other] != kOpen) c += cost(problem_, arc, v, x, choice_[arc.other]);
      if (best == kOpen || c < best_cost) best = x, best_cost = c;
    }
    return best;
  }

  bool supported(const Arc& arc, uint32_t v, uint32_t x) const {  // arc of v
    for (uint32_t y = 0; y < problem_.num_labels(arc.other); ++y)
      if (is_allowed(arc.other, y) && cost(problem_, arc, v, x, y) != kForbidden) return true;
    return false;
  }

  // False: some variable has no label left.
  Result<bool> propagate(uint32_t start) {
    queue_.assign(1, start);
    while (!queue_.empty()) {
      const uint32_t u = queue_.back();
      queue_.pop_back();
      for (const Arc& arc : adjacency_.of(u)) {
        if (!forbids_[problem_.edges()[arc.edge].matrix]) continue;
        const uint32_t v = arc.other, before = labels_left_[v];
        for (uint32_t x = 0; x < problem_.num_labels(v); ++x)
          if (is_allowed(v, x) && !supported({u, arc.edge}, v, x)) drop(v, x);
        SHW_RETURN_IF_ERROR(watch_.poll(uint64_t{4} * before * problem_.num_labels(u)));
        if (labels_left_[v] == 0) return false;
        if (labels_left_[v] != before) queue_.push_back(v);
      }
    }
    return true;
  }

  const PlacementProblem& problem_;
  Watch& watch_;
  Adjacency adjacency_;
  std::vector<uint32_t> choice_, labels_left_, queue_;
  std::vector<uint8_t> allowed_;  // per label
  std::vector<bool> forbids_;     // per matrix: has an infinite entry
  std::vector<std::pair<uint32_t, uint32_t>> trail_;
};

}  // namespace

Result<std::vector<uint32_t>> decode_with_propagation(const PlacementProblem& problem,
                                                      Watch& watch) {
  return Decoder(problem, watch).run();
}

void improve_by_coordinates(const PlacementProblem& problem, std::vector<uint32_t>& choice) {
  constexpr int kMaxPasses = 10;
  const Adjacency adjacency(problem);
  std::vector<double> costs;
  bool improved = true;
  for (int pass = 0; pass < kMaxPasses && improved; ++pass) {
    improved = false;
    for (uint32_t v = 0; v < problem.num_variables(); ++v) {
      costs.assign(problem.unary(v).begin(), problem.unary(v).end());
      for (const Arc& arc : adjacency.of(v))
        for (uint32_t x = 0; x < costs.size(); ++x)
          costs[x] += cost(problem, arc, v, x, choice[arc.other]);
      const auto best = static_cast<uint32_t>(std::ranges::min_element(costs) - costs.begin());
      if (costs[best] < costs[choice[v]]) choice[v] = best, improved = true;
    }
  }
}

}  // namespace shw::solver
