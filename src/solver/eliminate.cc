#include "solver/eliminate.h"

#include <algorithm>
#include <set>

namespace shw::solver {
namespace {

struct Factor {
  std::vector<uint32_t> scope;  // variables; the last one varies fastest
  std::vector<double> table;
};

// Steps through all labellings of `scope` and maintains the corresponding position in each of
// several factors.
class Odometer {
 public:
  Odometer(const PlacementProblem& problem, const std::vector<uint32_t>& scope,
           const std::vector<Factor>& factors)
      : digits_(scope.size(), 0),
        strides_(scope.size() * factors.size(), 0),
        position_(factors.size(), 0) {
    for (const uint32_t v : scope) labels_.push_back(problem.num_labels(v));
    for (size_t f = 0; f < factors.size(); ++f)
      for (size_t d = 0; d < scope.size(); ++d)
        strides_[d * factors.size() + f] = stride(problem, factors[f], scope[d]);
  }
  static size_t stride(const PlacementProblem& problem, const Factor& factor, uint32_t variable) {
    size_t step = 1;
    for (size_t i = factor.scope.size(); i-- > 0; step *= problem.num_labels(factor.scope[i]))
      if (factor.scope[i] == variable) return step;
    return 0;
  }
  size_t position(size_t factor) const { return position_[factor]; }
  bool next() {
    const size_t n = position_.size();
    for (size_t d = digits_.size(); d-- > 0;) {
      const bool wraps = ++digits_[d] == labels_[d];
      const size_t steps = wraps ? labels_[d] - 1 : 1;
      for (size_t f = 0; f < n; ++f) {
        const size_t by = steps * strides_[d * n + f];
        position_[f] = wraps ? position_[f] - by : position_[f] + by;
      }
      if (!wraps) return true;
      digits_[d] = 0;
    }
    return false;
  }

 private:
  std::vector<uint32_t> labels_, digits_;
  std::vector<size_t> strides_, position_;
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

std::vector<uint32_t> neighbours(uint32_t v, const std::vector<Factor>& bucket) {
  std::vector<uint32_t> scope;
  for (const Factor& f : bucket) scope.insert(scope.end(), f.scope.begin(), f.scope.end());
  std::ranges::sort(scope);
  scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
  std::erase(scope, v);
  return scope;
}

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
    if (bytes > static_cast<double>(max_table_bytes) || cells > static_cast<double>(max_cells))
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
  plan.table_bytes = static_cast<uint64_t>(bytes);
  plan.cells = static_cast<uint64_t>(cells);
  return {std::move(plan)};
}

Result<std::vector<uint32_t>> eliminate(const PlacementProblem& problem,
                                        const EliminationPlan& plan, Watch& watch) {
  const uint32_t n = problem.num_variables();
  Factors factors(n);
  for (uint32_t v = 0; v < n; ++v) {
    const auto u = problem.unary(v);
    factors.add({{v}, {u.begin(), u.end()}});
  }
  for (const auto& e : problem.edges()) {
    const auto& m = problem.matrices()[e.matrix];
    const double* costs = problem.costs(e.matrix);
    factors.add({e.transposed ? std::vector{e.b, e.a} : std::vector{e.a, e.b},
                 {costs, costs + size_t{m.rows} * m.cols}});
  }

  std::vector<std::vector<Factor>> buckets;
  std::vector<double> costs;
  for (const uint32_t v : plan.order) {
    std::vector<Factor> bucket = factors.take(v);
    Factor made{neighbours(v, bucket), {}};
    Odometer at(problem, made.scope, bucket);
    std::vector<size_t> stride;
    stride.reserve(bucket.size());
    for (const Factor& f : bucket) stride.push_back(Odometer::stride(problem, f, v));
    const uint32_t k = problem.num_labels(v);
    do {
      costs.assign(k, 0);
      for (size_t f = 0; f < bucket.size(); ++f) {
        const double* table = bucket[f].table.data() + at.position(f);
        for (uint32_t x = 0; x < k; ++x) costs[x] += table[x * stride[f]];
      }
      made.table.push_back(*std::ranges::min_element(costs));
      SHW_RETURN_IF_ERROR(watch.poll(k * bucket.size() + 8));
      if (watch.expired()) return std::vector<uint32_t>{};
    } while (at.next());
    factors.add(std::move(made));
    buckets.push_back(std::move(bucket));
  }

  std::vector<uint32_t> choice(n, 0);
  for (size_t i = plan.order.size(); i-- > 0;) {
    const uint32_t v = plan.order[i];
    costs.assign(problem.num_labels(v), 0);
    for (const Factor& f : buckets[i]) {
      size_t position = 0;
      for (const uint32_t u : f.scope)
        if (u != v) position += choice[u] * Odometer::stride(problem, f, u);
      for (uint32_t x = 0; x < costs.size(); ++x)
        costs[x] += f.table[position + x * Odometer::stride(problem, f, v)];
    }
    choice[v] = static_cast<uint32_t>(std::ranges::min_element(costs) - costs.begin());
  }
  return choice;
}

}  // namespace shw::solver
