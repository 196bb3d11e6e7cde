#include "solver/decode.h"

#include <algorithm>
#include <optional>

#include "solver/adjacency.h"
#include "solver/kernels.h"
#include "solver/range_slack.h"

namespace shw::solver {
namespace {

using Arc = Adjacency::Arc;

double cost(const PlacementProblem& problem, const Arc& arc, uint32_t v, uint32_t label,
            uint32_t other_label) {
  const auto& e = problem.edges()[arc.edge];
  return e.a == v ? problem.edge_cost(e, label, other_label)
                  : problem.edge_cost(e, other_label, label);
}

// The slack of the rows if every variable takes the least usage among its remaining labels.
class Reserved {
 public:
  explicit Reserved(const BudgetRows& rows) : rows_(rows), slack_({}), least_(rows.uses().size()) {
    std::vector<double> slack;
    for (size_t r = 0; r < rows.size(); ++r) slack.push_back(rows.slack(r));
    slack_ = RangeSlack(std::move(slack));
  }

  // Updates the minimum usage of v after it lost labels. `allowed`: a flag per label of v. `time`
  // must not decrease between calls. False: a row is exceeded.
  bool raise(uint32_t v, std::span<const uint8_t> allowed, size_t time) {
    bool fits = true;
    for (const BudgetRows::Use& use : rows_.uses(v)) {
      double least = kForbidden;
      for (uint32_t x = 0; x < allowed.size(); ++x)
        if (allowed[x]) least = std::min(least, rows_.excess(use)[x]);
      const auto u = static_cast<uint32_t>(&use - rows_.uses().data());
      if (least == kForbidden || least == least_[u]) continue;
      trail_.push_back({time, u, least_[u]});
      slack_.add(use.first_row, use.end_row, least_[u] - least);
      least_[u] = least;
      fits = fits && slack_.least(use.first_row, use.end_row) >= 0;
    }
    return fits;
  }
  // Reverts all changes after `time`.
  void undo(size_t time) {
    for (; !trail_.empty() && trail_.back().time > time; trail_.pop_back()) {
      const auto [at, u, least] = trail_.back();
      const BudgetRows::Use& use = rows_.uses()[u];
      slack_.add(use.first_row, use.end_row, least_[u] - least);
      least_[u] = least;
    }
  }

 private:
  struct Raised {
    size_t time;
    uint32_t use;
    double before;
  };
  const BudgetRows& rows_;
  RangeSlack slack_;
  std::vector<double> least_;  // by use
  std::vector<Raised> trail_;
};

class Decoder {
 public:
  Decoder(const PlacementProblem& problem, Trws& trws, const BudgetRows* rows)
      : problem_(problem), trws_(trws), adjacency_(problem) {
    if (rows != nullptr) reserved_.emplace(*rows);
    const uint32_t n = problem.num_variables();
    allowed_.assign(problem.first_label(n), 0);
    labels_left_.resize(n);
    for (uint32_t v = 0; v < n; ++v) {
      labels_left_[v] = static_cast<uint32_t>(trws.labels(v).size());
      for (const uint32_t x : trws.labels(v)) allowed_[problem.first_label(v) + x] = 1;
    }
    for (uint32_t m = 0; m < problem.matrices().size(); ++m) {
      const auto& shape = problem.matrices()[m];
      forbids_.push_back(!all_finite(problem.costs(m), size_t{shape.rows} * shape.cols));
    }
  }

  Result<std::vector<uint32_t>> run() {
    Status failure;
    bool stuck = false;
    std::vector<uint32_t> choice;
    trws_.decode(
        /*forward=*/true,
        [&](uint32_t v, std::span<const double> costs) {
          if (stuck) return 0u;
          const Result<uint32_t> picked = pick(v, costs);
          if (!picked.ok()) failure = picked.status();
          stuck = !picked.ok() || *picked == kNone;
          return stuck ? 0u : *picked;
        },
        [](uint32_t, uint32_t) { return true; }, choice);
    SHW_RETURN_IF_ERROR(failure);
    if (stuck) return std::vector<uint32_t>{};
    for (uint32_t v = 0; v < choice.size(); ++v) choice[v] = trws_.labels(v)[choice[v]];
    return choice;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void drop(uint32_t v, uint32_t x) {
    uint8_t& flag = allowed_[problem_.first_label(v) + x];
    if (flag == 0) return;
    flag = 0;
    --labels_left_[v];
    trail_.emplace_back(v, x);
    if (reserved_)
      fits_ &= reserved_->raise(
          v, {allowed_.data() + problem_.first_label(v), problem_.num_labels(v)}, trail_.size());
  }
  void undo(size_t mark) {
    for (; trail_.size() > mark; trail_.pop_back()) {
      const auto [v, x] = trail_.back();
      allowed_[problem_.first_label(v) + x] = 1;
      ++labels_left_[v];
    }
    if (reserved_) reserved_->undo(mark);
    fits_ = true;
  }
  bool is_allowed(uint32_t v, uint32_t x) const {
    return allowed_[problem_.first_label(v) + x] != 0;
  }

  // The position of the cheapest label that leaves every variable at least one label; kNone: there
  // is none.
  Result<uint32_t> pick(uint32_t v, std::span<const double> costs) {
    const std::span<const uint32_t> labels = trws_.labels(v);
    while (labels_left_[v] > 0) {
      uint32_t best = kNone;
      for (uint32_t i = 0; i < labels.size(); ++i)
        if (is_allowed(v, labels[i]) && (best == kNone || costs[i] < costs[best])) best = i;
      const size_t mark = trail_.size();
      for (const uint32_t y : labels)
        if (y != labels[best]) drop(v, y);
      SHW_ASSIGN_OR_RETURN(const bool consistent, propagate(v));
      if (consistent) return best;
      undo(mark);
      drop(v, labels[best]);
      SHW_ASSIGN_OR_RETURN(const bool still, propagate(v));
      if (!still) break;
    }
    return kNone;
  }

  bool supported(const Arc& arc, uint32_t v, uint32_t x) const {  // arc of v
    for (const uint32_t y : trws_.labels(arc.other))
      if (is_allowed(arc.other, y) && cost(problem_, arc, v, x, y) != kForbidden) return true;
    return false;
  }

  // False: some variable has no label left, or a row is exceeded.
  Result<bool> propagate(uint32_t start) {
    queue_.assign(1, start);
    if (!fits_) return false;
    while (!queue_.empty()) {
      const uint32_t u = queue_.back();
      queue_.pop_back();
      for (const Arc& arc : adjacency_.of(u)) {
        if (!forbids_[problem_.edges()[arc.edge].matrix]) continue;
        const uint32_t v = arc.other, before = labels_left_[v];
        for (const uint32_t x : trws_.labels(v))
          if (is_allowed(v, x) && !supported({u, arc.edge}, v, x)) drop(v, x);
        SHW_RETURN_IF_ERROR(trws_.watch().poll(uint64_t{4} * before * trws_.labels(u).size()));
        if (labels_left_[v] == 0 || !fits_) return false;
        if (labels_left_[v] != before) queue_.push_back(v);
      }
    }
    return true;
  }

  const PlacementProblem& problem_;
  Trws& trws_;
  Adjacency adjacency_;
  std::vector<uint32_t> labels_left_, queue_;
  std::vector<uint8_t> allowed_;  // per label
  std::optional<Reserved> reserved_;
  bool fits_ = true;
  std::vector<bool> forbids_;  // per matrix: has an infinite entry
  std::vector<std::pair<uint32_t, uint32_t>> trail_;
};

}  // namespace

Result<std::vector<uint32_t>> decode_with_propagation(const PlacementProblem& problem, Trws& trws,
                                                      const BudgetRows* rows) {
  return Decoder(problem, trws, rows).run();
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
