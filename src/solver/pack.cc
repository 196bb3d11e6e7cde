#include "solver/pack.h"

#include <numeric>

namespace shw::solver {
namespace {

std::vector<double> slacks(const BudgetRows& rows) {
  std::vector<double> slack;
  for (size_t r = 0; r < rows.size(); ++r) slack.push_back(rows.slack(r));
  return slack;
}

}  // namespace

Packer::Packer(const PlacementProblem& problem, const BudgetRows& rows)
    : problem_(problem), rows_(rows), adjacency_(problem), slack_(slacks(rows)) {}

void Packer::reset() { slack_ = RangeSlack(slacks(rows_)); }

bool Packer::fits(uint32_t v, uint32_t from, uint32_t to) const {
  for (const BudgetRows::Use& use : rows_.uses(v)) {
    const double* excess = rows_.excess(use);
    const double more = excess[to] - (from == kNone ? 0 : excess[from]);
    if (more > 0 && more > slack_.least(use.first_row, use.end_row)) return false;
  }
  return true;
}

void Packer::move(uint32_t v, uint32_t from, uint32_t to) {
  for (const BudgetRows::Use& use : rows_.uses(v)) {
    const double* excess = rows_.excess(use);
    const double more = excess[to] - (from == kNone ? 0 : excess[from]);
    if (more != 0) slack_.add(use.first_row, use.end_row, -more);
  }
}

bool Packer::pack(Trws& trws, bool forth) {
  reset();
  bool possible = true;
  trws.decode(
      forth,
      [&](uint32_t v, std::span<const double> costs) {
        uint32_t best = kNone;
        for (uint32_t i = 0; i < costs.size(); ++i)
          if ((best == kNone || costs[i] < costs[best]) && costs[i] != kForbidden &&
              fits(v, kNone, trws.labels(v)[i]))
            best = i;
        possible = possible && best != kNone;
        if (best == kNone) return 0u;
        move(v, kNone, trws.labels(v)[best]);
        return best;
      },
      choice_);
  for (uint32_t v = 0; v < choice_.size(); ++v) choice_[v] = trws.labels(v)[choice_[v]];
  return possible;
}

Status Packer::improve(Watch& watch) {
  constexpr int kMaxPasses = 20;
  std::vector<double> costs;
  bool improved = true;
  for (int pass = 0; pass < kMaxPasses && improved; ++pass) {
    improved = false;
    for (uint32_t v = 0; v < problem_.num_variables(); ++v) {
      const uint32_t k = problem_.num_labels(v);
      if (k == 1) continue;
      costs.assign(problem_.unary(v).begin(), problem_.unary(v).end());
      for (const Adjacency::Arc& arc : adjacency_.of(v)) {
        const auto& e = problem_.edges()[arc.edge];
        const auto& m = problem_.matrices()[e.matrix];
        const bool is_rows = (e.a == v) != (e.transposed != 0);
        const size_t y = choice_[arc.other];
        const double* cost = is_rows ? m.costs + y : m.costs + y * m.cols;
        const size_t step = is_rows ? m.cols : 1;
        for (uint32_t x = 0; x < k; ++x) costs[x] += cost[x * step];
      }
      SHW_RETURN_IF_ERROR(watch.poll(4 * k * (adjacency_.of(v).size() + 1)));
      const uint32_t old = choice_[v];
      uint32_t best = old;
      for (uint32_t x = 0; x < k; ++x)
        if (costs[x] < costs[best] && fits(v, old, x)) best = x;
      if (best == old) continue;
      move(v, old, best);
      choice_[v] = best;
      improved = true;
    }
  }
  return {};
}

}  // namespace shw::solver
