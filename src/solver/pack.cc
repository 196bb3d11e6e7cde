#include "solver/pack.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "support/stable_sort.h"

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

bool Packer::pack(Trws& trws, bool forward) {
  reset();
  bool possible = true;
  trws.decode(
      forward,
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
      [&](uint32_t v, uint32_t label) { return fits(v, kNone, label); }, choice_);
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

double Packer::cost(std::span<const uint32_t> choice) const {
  double cost = 0;
  for (uint32_t v = 0; v < choice.size(); ++v) cost += problem_.unary(v)[choice[v]];
  for (const auto& e : problem_.edges()) cost += problem_.edge_cost(e, choice[e.a], choice[e.b]);
  return cost;
}

bool Packer::keep() {
  const double now = cost();
  if (now >= best_cost_) return false;
  best_cost_ = now;
  best_ = choice_;
  return true;
}

bool Packer::back() {
  if (best_.empty()) return false;
  reset();
  choice_ = best_;
  for (uint32_t v = 0; v < choice_.size(); ++v) move(v, kNone, choice_[v]);
  return true;
}

// The extra cost of v, and of its edges to later or unchanged variables, under the other labelling.
double Packer::difference(uint32_t v, std::span<const uint32_t> other) const {
  double cost = problem_.unary(v)[other[v]] - problem_.unary(v)[choice_[v]];
  for (const Adjacency::Arc& arc : adjacency_.of(v)) {
    if (arc.other < v && other[arc.other] != choice_[arc.other]) continue;
    const auto& e = problem_.edges()[arc.edge];
    cost += problem_.edge_cost(e, other[e.a], other[e.b]) -
            problem_.edge_cost(e, choice_[e.a], choice_[e.b]);
  }
  return cost;
}

std::vector<Packer::Part> Packer::parts(std::span<const uint32_t> other,
                                        std::span<const double> prices,
                                        std::vector<uint32_t>& variables) const {
  std::vector<Part> found;
  std::vector<uint8_t> seen(choice_.size(), 0);
  for (uint32_t start = 0; start < choice_.size(); ++start) {
    if (seen[start] || other[start] == choice_[start]) continue;
    Part part{static_cast<uint32_t>(variables.size()), 0, 0, 0};
    variables.push_back(start);
    seen[start] = 1;
    for (size_t at = part.first; at < variables.size(); ++at) {
      const uint32_t v = variables[at];
      for (const Adjacency::Arc& arc : adjacency_.of(v))
        if (!seen[arc.other] && other[arc.other] != choice_[arc.other]) {
          seen[arc.other] = 1;
          variables.push_back(arc.other);
        }
      part.cost += difference(v, other);
      const double* price = prices.data() + problem_.first_label(v);
      part.reduced += price[other[v]] - price[choice_[v]];
    }
    part.end = static_cast<uint32_t>(variables.size());
    part.reduced += part.cost;
    found.push_back(part);
  }
  return found;
}

double Packer::blend(std::span<uint32_t> other, std::span<const double> prices) const {
  std::vector<uint32_t> variables;
  for (const Part& part : parts(other, prices, variables)) {
    if (part.reduced < 0) continue;
    for (uint32_t i = part.first; i < part.end; ++i) other[variables[i]] = choice_[variables[i]];
  }
  return cost(other);
}

// Swaps the labels of these variables, if the result fits.
bool Packer::take(std::span<const uint32_t> variables, std::span<uint32_t> other) {
  bool fit = true;
  for (const uint32_t v : variables) move(v, choice_[v], other[v]);
  for (const uint32_t v : variables)
    for (const BudgetRows::Use& use : rows_.uses(v))
      fit = fit && slack_.least(use.first_row, use.end_row) >= 0;
  for (const uint32_t v : variables)
    if (fit)
      std::swap(choice_[v], other[v]);
    else
      move(v, other[v], choice_[v]);
  return fit;
}

Status Packer::combine(std::span<const uint32_t> wanted, std::span<const double> prices,
                       Watch& watch) {
  SHW_RETURN_IF_ERROR(watch.poll(4 * choice_.size()));
  std::vector<uint32_t> other(wanted.begin(), wanted.end()), variables;
  std::vector<Part> all = parts(other, prices, variables);
  const auto members = [&](const Part& p) {
    return std::span<const uint32_t>(variables).subspan(p.first, p.end - p.first);
  };
  double cost = 0;
  const auto flip = [&](Part& p) {
    if (!take(members(p), other)) return;
    cost += p.taken ? -p.cost : p.cost;
    p.taken = !p.taken;
  };
  sort_stably(all, {}, &Part::reduced);
  for (Part& p : all)
    if (p.reduced < 0) flip(p);
  sort_stably(all, {}, [](const Part& p) { return -std::abs(p.cost); });
  for (Part& p : all)
    if (p.taken ? p.cost > 0 : p.cost < 0) flip(p);
  if (cost <= 0) return {};
  for (Part& p : all)  // undo all: an improvement may need several at once
    if (p.taken)
      for (const uint32_t v : members(p)) {
        move(v, choice_[v], other[v]);
        std::swap(choice_[v], other[v]);
      }
  return {};
}

}  // namespace shw::solver
