#include "solver/eliminate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "solver/kernels.h"
#include "solver/odometer.h"

namespace shw::solver {
namespace {

constexpr double kEliminationRounding = 1e-13;  // of the sum of all terms

struct Factor {
  Scope scope;  // the last is eliminated first, so its costs are adjacent
  std::vector<double> table;
};

// The remaining factors, found by variable.
class Factors {
 public:
  explicit Factors(uint32_t num_variables) : by_variable_(num_variables) {}
  void add(Factor factor) {
    for (const uint32_t v : factor.scope) by_variable_[v].push_back(factors_.size());
    factors_.push_back(std::move(factor));
  }
  // Removes and returns the factors that mention v, in order of insertion.
  std::vector<Factor> take(uint32_t v) {
    std::vector<Factor> bucket;
    for (const size_t f : by_variable_[v]) {
      if (factors_[f].table.empty()) continue;  // already taken for another variable
      bucket.push_back(std::move(factors_[f]));
      factors_[f].table.clear();
    }
    return bucket;
  }

 private:
  std::vector<Factor> factors_;
  std::vector<std::vector<size_t>> by_variable_;
};

}  // namespace

Result<std::optional<EliminationPlan>> plan_elimination(const PlacementProblem& problem,
                                                        uint64_t max_table_bytes,
                                                        uint64_t max_cells, Watch& watch) {
  const uint32_t n = problem.num_variables();
  std::vector<std::set<uint32_t>> adjacent(n);
  for (const auto& e : problem.edges()) adjacent[e.a].insert(e.b), adjacent[e.b].insert(e.a);
  std::vector<double> weight(n);
  std::set<std::pair<double, uint32_t>> queue;
  const auto enqueue = [&](uint32_t v) {
    weight[v] = 1;
    for (const uint32_t u : adjacent[v]) weight[v] *= problem.num_labels(u);
    queue.emplace(weight[v], v);
  };
  for (uint32_t v = 0; v < n; ++v) enqueue(v);

  EliminationPlan plan;
  double bytes = 0, cells = 0;
  while (!queue.empty()) {
    const auto [table, v] = *queue.begin();
    queue.erase(queue.begin());
    bytes += table * sizeof(double);
    cells += table * problem.num_labels(v) * static_cast<double>(adjacent[v].size() + 1);
    if ((max_table_bytes != kUnlimited && bytes > static_cast<double>(max_table_bytes)) ||
        (max_cells != kUnlimited && cells > static_cast<double>(max_cells)))
      return {std::nullopt};
    plan.order.push_back(v);
    SHW_RETURN_IF_ERROR(watch.poll(100 * (adjacent[v].size() + 1) * (adjacent[v].size() + 1)));
    for (const uint32_t u : adjacent[v]) {
      queue.erase({weight[u], u});
      adjacent[u].erase(v);
      for (const uint32_t w : adjacent[v])
        if (w != u) adjacent[u].insert(w);
    }
    for (const uint32_t u : adjacent[v]) enqueue(u);
  }
  constexpr double kMost = 1e18;
  plan.table_bytes = static_cast<uint64_t>(std::min(bytes, kMost));
  plan.cells = static_cast<uint64_t>(std::min(cells, kMost));
  return {std::move(plan)};
}

namespace {

// Eliminates one variable: minimises over its labels, group by group.
class Bucket {
 public:
  // Takes the factors that mention v, and groups them. Each group gives one table over its scope
  // without v. `rank`: the position of each variable in the elimination order.
  Bucket(const PlacementProblem& problem, std::span<const uint32_t> rank, uint32_t v,
         std::vector<Factor> factors, uint64_t max_table_cells)
      : problem_(problem), rank_(rank), v_(v), labels_(problem.num_labels(v)) {
    std::vector<std::pair<size_t, size_t>> largest_first;  // size, counted from the end; position
    for (size_t i = 0; i < factors.size(); ++i)
      largest_first.emplace_back(SIZE_MAX - factors[i].table.size(), i);
    std::ranges::sort(largest_first);
    for (const auto& [size, i] : largest_first)
      group_for(factors[i], max_table_cells).factors.push_back(std::move(factors[i]));
  }

  // Adds a factor for each group to `made`. False: the time limit expired.
  Result<bool> minimise(std::vector<Factor>& made, Watch& watch) {
    SHW_ASSIGN_OR_RETURN(bool in_time, share(watch));
    for (const Group& g : groups_) {
      if (!in_time) break;
      Factor& factor = made.emplace_back(Factor{g.scope, {}});
      SHW_ASSIGN_OR_RETURN(in_time, for_each_cell(g, watch, [&](std::span<const double> costs) {
                             factor.table.push_back(*std::ranges::min_element(costs));
                           }));
    }
    return in_time;
  }

  // The best label of v, given those of all variables eliminated later. Also returns by how much
  // the groups' common minimum exceeds the sum of their separate minima.
  std::pair<uint32_t, double> best(std::span<const uint32_t> choice) const {
    std::vector<double> total(labels_, 0), costs;
    double least = 0;
    for (const Group& g : groups_) {
      costs.assign(labels_, 0);
      for (size_t f = 0; f < g.factors.size(); ++f) {
        size_t position = 0;
        for (const uint32_t u : g.factors[f].scope)
          if (u != v_) position += choice[u] * Odometer::stride(problem_, g.factors[f].scope, u);
        for (uint32_t x = 0; x < labels_; ++x) costs[x] += g.factors[f].table[position + x];
      }
      for (uint32_t x = 0; x < labels_; ++x) total[x] += costs[x];
      for (uint32_t x = 0; x < g.shift.size(); ++x) costs[x] += g.shift[x];
      least += *std::ranges::min_element(costs);
    }
    const auto label = std::ranges::min_element(total) - total.begin();
    return {static_cast<uint32_t>(label), total[static_cast<size_t>(label)] - least};
  }

 private:
  struct Group {
    std::vector<uint32_t> scope;  // without v
    std::vector<Factor> factors;
    std::vector<double> shift;  // of costs between groups, by label; they sum to zero
  };

  // Of the groups with room for the factor, the one whose table grows least.
  Group& group_for(const Factor& factor, uint64_t max_table_cells) {
    Group* best = nullptr;
    double best_growth = kForbidden;
    for (Group& g : groups_) {
      const double cells = cells_of(united(g.scope, factor));
      const double growth = cells / cells_of(g.scope);
      if (cells <= static_cast<double>(max_table_cells) && growth < best_growth)
        best = &g, best_growth = growth;
    }
    if (best == nullptr) best = &groups_.emplace_back();
    best->scope = united(std::move(best->scope), factor);
    return *best;
  }
  double cells_of(std::span<const uint32_t> scope) const {
    double cells = 1;
    for (const uint32_t u : scope) cells *= problem_.num_labels(u);
    return cells;
  }
  std::vector<uint32_t> united(std::vector<uint32_t> scope, const Factor& factor) const {
    scope.insert(scope.end(), factor.scope.begin(), factor.scope.end());
    std::ranges::sort(scope, std::ranges::greater(), [&](uint32_t u) { return rank_[u]; });
    scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
    std::erase(scope, v_);
    return scope;
  }

  // Calls act(costs by label of v) for each labelling of a group's scope.
  template <class Act>
  Result<bool> for_each_cell(const Group& g, Watch& watch, Act act) const {
    std::vector<double> costs;
    std::vector<Scope> scopes;
    for (const Factor& f : g.factors) scopes.push_back(f.scope);
    Odometer at(problem_, g.scope, scopes);
    do {
      costs.assign(labels_, 0);
      for (size_t f = 0; f < g.factors.size(); ++f) {
        const double* table = g.factors[f].table.data() + at.position(f);
        for (uint32_t x = 0; x < labels_; ++x) costs[x] += table[x];
      }
      for (uint32_t x = 0; x < g.shift.size(); ++x) costs[x] += g.shift[x];
      act(std::span<const double>(costs));
      SHW_RETURN_IF_ERROR(watch.poll(labels_ * g.factors.size() + 8));
      if (watch.expired()) return false;
    } while (at.next());
    return true;
  }

  // Each group may choose its own label. This moves costs between groups until each label costs the
  // same in all of them, so that groups agree where they can. It raises the bound.
  Result<bool> share(Watch& watch) {
    if (groups_.size() < 2) return true;
    std::vector<double> mean(labels_, 0);
    for (Group& g : groups_) {
      std::vector<double> least(labels_, kForbidden);
      SHW_ASSIGN_OR_RETURN(const bool in_time,
                           for_each_cell(g, watch, [&](std::span<const double> costs) {
                             for (uint32_t x = 0; x < labels_; ++x)
                               least[x] = std::min(least[x], costs[x]);
                           }));
      if (!in_time) return false;
      for (uint32_t x = 0; x < labels_; ++x)
        mean[x] += least[x] / static_cast<double>(groups_.size());
      g.shift = std::move(least);
    }
    for (Group& g : groups_)
      for (uint32_t x = 0; x < labels_; ++x)
        g.shift[x] = mean[x] == kForbidden ? kForbidden : mean[x] - g.shift[x];
    return true;
  }

  const PlacementProblem& problem_;
  const std::span<const uint32_t> rank_;
  const uint32_t v_, labels_;
  std::vector<Group> groups_;
};

}  // namespace

Result<Eliminated> eliminate(const PlacementProblem& problem, const EliminationPlan& plan,
                             uint64_t max_table_cells, Watch& watch) {
  const uint32_t n = problem.num_variables();
  Factors factors(n);
  for (uint32_t v = 0; v < n; ++v) {
    const auto u = problem.unary(v);
    factors.add({{v}, {u.begin(), u.end()}});
  }
  std::vector<uint32_t> rank(n);
  for (uint32_t i = 0; i < n; ++i) rank[plan.order[i]] = i;
  for (const auto& e : problem.edges()) {
    const auto& m = problem.matrices()[e.matrix];
    const double* costs = problem.costs(e.matrix);
    const auto [row, col] = e.transposed ? std::pair(e.b, e.a) : std::pair(e.a, e.b);
    Factor f{{row, col}, {costs, costs + size_t{m.rows} * m.cols}};
    if (rank[row] < rank[col]) {
      std::swap(f.scope[0], f.scope[1]);
      transpose(costs, m.rows, m.cols, m.cols, f.table.data(), m.rows);
    }
    factors.add(std::move(f));
  }

  Eliminated result;
  std::vector<Bucket> buckets;
  std::vector<Factor> made;
  double size = 0;
  for (const uint32_t v : plan.order) {
    Bucket& bucket = buckets.emplace_back(problem, rank, v, factors.take(v), max_table_cells);
    made.clear();
    SHW_ASSIGN_OR_RETURN(const bool in_time, bucket.minimise(made, watch));
    if (!in_time) return result;
    for (Factor& f : made) {
      if (f.scope.empty()) {
        result.bound += f.table[0];
        size += std::abs(f.table[0]);
      } else {
        factors.add(std::move(f));
      }
    }
  }
  result.bound -= kEliminationRounding * size;

  result.choice.assign(n, 0);
  double most = kEliminationRounding * size;
  for (size_t i = plan.order.size(); i-- > 0;) {
    const uint32_t v = plan.order[i];
    const auto [label, loss] = buckets[i].best(result.choice);
    result.choice[v] = label;
    if (loss > most) most = loss, result.disputed = v;
  }
  return result;
}

}  // namespace shw::solver
