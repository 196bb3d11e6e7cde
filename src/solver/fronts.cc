#include "solver/fronts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "solver/eliminate.h"
#include "solver/front_filter.h"
#include "solver/odometer.h"
#include "solver/parameters.h"

namespace shw::solver {
namespace {

using namespace parameters::fronts;

constexpr double kFrontRounding = 1e-14;       // of the limit: sums of equal layers differ so
constexpr double kFrontLimitRounding = 1e-12;  // of a row's limit, as everywhere

class Fronts {
 public:
  Fronts(const PlacementProblem& problem, const BudgetRows& rows, std::span<const size_t> exact,
         std::span<const double> prices, double limit, uint64_t max_cells, Watch& watch)
      : problem_(problem),
        end_cells_(watch.cells() + max_cells),
        watch_(watch),
        unary_(problem.first_label(problem.num_variables())),
        use_(unary_.size(), std::array<double, kMaxExactRows>{}),
        tolerance_(kFrontRounding * std::abs(limit)),
        asked_(limit),
        limit_(limit + tolerance_ * (1.0 + problem.num_variables())),
        filter_(rows_, tolerance_) {
    for (const size_t r : exact)
      rows_.push_back(
          {r, prices[r], rows.slack(r) + kFrontLimitRounding * std::abs(rows.limit(r))});
    rows.price_labels(problem, prices, unary_);
    for (uint32_t v = 0; v < problem.num_variables(); ++v)
      for (uint32_t x = 0; x < problem.num_labels(v); ++x)
        unary_[problem.first_label(v) + x] += problem.unary(v)[x];
    for (size_t r = 0; r < rows.size(); ++r) {
      limit_ += prices[r] * rows.slack(r);
      unpriced_ += prices[r] * rows.slack(r);
    }
    for (const ExactRow& row : rows_) unpriced_ -= prices[row.index] * rows.slack(row.index);
    for (const BudgetRows::Use& u : rows.uses())
      for (size_t r = 0; r < rows_.size(); ++r) {
        if (rows_[r].index < u.first_row || rows_[r].index >= u.end_row) continue;
        for (uint32_t x = 0; x < problem.num_labels(u.variable); ++x)
          use_[problem.first_label(u.variable) + x][r] += rows.excess(u)[x];
      }
  }

  Result<std::optional<FrontAnswer>> run(const EliminationPlan& plan) {
    make_buckets(plan);
    SHW_ASSIGN_OR_RETURN(bool in_time, find_least());
    if (!in_time) return {std::nullopt};
    SHW_ASSIGN_OR_RETURN(in_time, find_outside());
    if (!in_time) return {std::nullopt};
    for (Bucket& b : buckets_) {
      SHW_ASSIGN_OR_RETURN(in_time, find_front(b));
      if (!in_time) return {std::nullopt};
    }
    return answer();
  }

 private:
  // The tables of one eliminated variable over `scope`, the remaining variables with which it has
  // costs.
  struct Bucket {
    uint32_t variable;
    Scope scope;
    std::vector<PlacementProblem::Edge> edges;
    std::vector<uint32_t> children;  // buckets whose tables are minimised here
    size_t size = 1;                 // entries
    std::vector<double> least;       // by entry: minimum cost of the variables below
    std::vector<double> outside;     // by entry: a lower bound on the cost of all others
    std::vector<uint32_t> first_item;
    std::vector<FrontItem> items;  // fronts, by entry

    std::span<const FrontItem> front(size_t entry) const {
      return std::span(items).subspan(first_item[entry], first_item[entry + 1] - first_item[entry]);
    }
  };
  struct Child {
    uint32_t bucket;
    size_t entry;
  };

  bool out_of_work() const { return watch_.expired() || watch_.cells() > end_cells_; }

  void make_buckets(const EliminationPlan& plan) {
    const uint32_t n = problem_.num_variables();
    std::vector<uint32_t> rank(n);
    for (uint32_t i = 0; i < n; ++i) rank[plan.order[i]] = i;
    buckets_.resize(n);
    for (const auto& e : problem_.edges()) {
      const auto [first, last] = std::minmax(rank[e.a], rank[e.b]);
      buckets_[first].edges.push_back(e);
      buckets_[first].scope.push_back(plan.order[last]);
    }
    for (uint32_t i = 0; i < n; ++i) {
      Bucket& b = buckets_[i];
      b.variable = plan.order[i];
      for (const uint32_t c : b.children)
        for (const uint32_t u : buckets_[c].scope)
          if (u != b.variable) b.scope.push_back(u);
      std::ranges::sort(b.scope, std::ranges::greater(), [&](uint32_t u) { return rank[u]; });
      b.scope.erase(std::unique(b.scope.begin(), b.scope.end()), b.scope.end());
      for (const uint32_t u : b.scope) b.size *= problem_.num_labels(u);
      if (b.scope.empty())
        roots_.push_back({i, 0});
      else
        buckets_[rank[b.scope.back()]].children.push_back(i);
    }
  }

  // Calls act(entry, costs by label, children) for each entry. The costs exclude those of children.
  // Each child is given by its entry for the first label; the entries for the other labels follow.
  template <class Act>
  Result<bool> for_each_entry(const Bucket& b, Act act) {
    std::vector<Scope> tables{b.scope};
    std::vector<size_t> strides;
    for (const auto& e : b.edges) {
      tables.push_back(e.transposed ? Scope{e.b, e.a} : Scope{e.a, e.b});
      strides.push_back(Odometer::stride(problem_, tables.back(), b.variable));
    }
    std::vector<Child> children;
    for (const uint32_t c : b.children) {
      tables.push_back(buckets_[c].scope);
      children.push_back({c, 0});
    }
    const uint32_t labels = problem_.num_labels(b.variable);
    const double* unary = unary_.data() + problem_.first_label(b.variable);
    std::vector<double> costs(labels);
    Odometer at(problem_, b.scope, tables);
    do {
      costs.assign(unary, unary + labels);
      for (size_t e = 0; e < b.edges.size(); ++e) {
        const double* table = problem_.costs(b.edges[e].matrix) + at.position(1 + e);
        for (uint32_t x = 0; x < labels; ++x) costs[x] += table[x * strides[e]];
      }
      for (size_t c = 0; c < children.size(); ++c)
        children[c].entry = at.position(1 + b.edges.size() + c);
      act(at.position(0), std::span(costs), std::span<const Child>(children));
      SHW_RETURN_IF_ERROR(watch_.poll(tables.size() * (labels + 4)));
      if (out_of_work()) return false;
    } while (at.next());
    return true;
  }

  double least_of(std::span<const Child> children) const {
    double sum = 0;
    for (const Child& c : children) sum += buckets_[c.bucket].least[c.entry];
    return sum;
  }
  void add_least(std::span<const Child> children, std::span<double> costs) const {
    for (const Child& c : children) {
      const double* least = buckets_[c.bucket].least.data() + c.entry;
      for (size_t x = 0; x < costs.size(); ++x) costs[x] += least[x];
    }
  }

  Result<bool> find_least() {
    for (Bucket& b : buckets_) {
      b.least.resize(b.size);
      SHW_ASSIGN_OR_RETURN(const bool in_time,
                           for_each_entry(b, [&](size_t entry, std::span<double> costs,
                                                 std::span<const Child> children) {
                             add_least(children, costs);
                             b.least[entry] = *std::ranges::min_element(costs);
                           }));
      if (!in_time) return false;
    }
    return true;
  }

  Result<bool> find_outside() {
    const double all = least_of(roots_);
    for (const Child& root : roots_) {
      Bucket& b = buckets_[root.bucket];
      b.outside.assign(1, all == kForbidden ? kForbidden : all - b.least[0]);
    }
    for (size_t i = buckets_.size(); i-- > 0;) {
      Bucket& b = buckets_[i];
      for (const uint32_t c : b.children) buckets_[c].outside.assign(buckets_[c].size, kForbidden);
      SHW_ASSIGN_OR_RETURN(const bool in_time,
                           for_each_entry(b, [&](size_t entry, std::span<double> costs,
                                                 std::span<const Child> children) {
                             add_least(children, costs);
                             for (double& cost : costs) cost += b.outside[entry];
                             for (const Child& c : children) lower_outside(c, costs);
                           }));
      if (!in_time) return false;
    }
    return true;
  }
  void lower_outside(const Child& c, std::span<const double> totals) {
    const double* least = buckets_[c.bucket].least.data() + c.entry;
    double* outside = buckets_[c.bucket].outside.data() + c.entry;
    for (size_t x = 0; x < totals.size(); ++x) {
      const double rest = totals[x] - least[x];  // NaN where both are infinite
      outside[x] = rest < outside[x] ? rest : outside[x];
    }
  }

  // Forms all sums of `first` and one item of each child's front that may be in an answer, unless
  // the work limit is reached. `stages`: also keeps the sums over the first children only, for
  // answer().
  Status add_up(const FrontItem& first, std::span<const Child> children, double outside,
                std::vector<FrontItem>& sums,
                std::vector<std::vector<FrontItem>>* stages = nullptr) {
    sums.assign(1, first);
    double rest = outside + least_of(children);
    for (const Child& c : children) {
      if (stages != nullptr) stages->push_back(sums);
      const auto front = buckets_[c.bucket].front(c.entry);
      rest -= buckets_[c.bucket].least[c.entry];
      next_.clear();
      for (const FrontItem& a : sums) {
        SHW_RETURN_IF_ERROR(watch_.poll(2 * front.size()));
        for (const FrontItem& b : front)
          if (const FrontItem sum = a + b; sum.cost + rest < limit_ && fits(sum))
            next_.push_back(sum);
        if (next_.size() > kMaxItems) end_cells_ = 0;
        if (out_of_work()) return {};
      }
      if (sums.size() > 1 && front.size() > 1) SHW_RETURN_IF_ERROR(filter(next_));
      std::swap(sums, next_);
    }
    return {};
  }
  Status filter(std::vector<FrontItem>& items) {
    return filter_(items, [this](uint64_t cells) -> Result<bool> {
      SHW_RETURN_IF_ERROR(cells == 0 ? watch_.look() : watch_.poll(cells));
      return out_of_work();
    });
  }
  bool fits(const FrontItem& item) const {
    for (size_t r = 0; r < rows_.size(); ++r)
      if (item.use[r] > rows_[r].slack) return false;
    return true;
  }

  FrontItem first_item(uint32_t variable, uint32_t label, double cost) const {
    return {cost, use_[problem_.first_label(variable) + label]};
  }

  Result<bool> find_front(Bucket& b) {
    Status status;
    std::vector<FrontItem> front, sums;
    std::vector<Child> at;
    b.first_item.assign(1, 0);
    SHW_ASSIGN_OR_RETURN(
        const bool in_time, for_each_entry(b, [&](size_t entry, std::span<double> costs,
                                                  std::span<const Child> children) {
          front.clear();
          for (uint32_t x = 0; x < costs.size() && status.ok() && !out_of_work(); ++x) {
            at.assign(children.begin(), children.end());
            for (Child& c : at) c.entry += x;
            const double outside = b.outside[entry];
            if (!(costs[x] + least_of(at) + outside < limit_)) continue;
            const FrontItem first = first_item(b.variable, x, costs[x]);
            if (!fits(first)) continue;
            status = add_up(first, at, outside, sums);
            front.insert(front.end(), sums.begin(), sums.end());
          }
          if (front.size() > 1 && status.ok()) status = filter(front);
          b.items.insert(b.items.end(), front.begin(), front.end());
          b.first_item.push_back(static_cast<uint32_t>(b.items.size()));
        }));
    SHW_RETURN_IF_ERROR(std::move(status));
    items_ += b.items.size();
    return in_time && items_ <= kMaxItems;
  }

  Result<std::optional<FrontAnswer>> answer() {
    FrontAnswer answer{asked_, {}};
    std::vector<FrontItem> sums;
    std::vector<std::vector<FrontItem>> stages;
    SHW_RETURN_IF_ERROR(add_up({}, roots_, 0, sums, &stages));
    if (out_of_work()) return {std::nullopt};
    end_cells_ = UINT64_MAX;  // the answer is always read off completely
    const auto best =
        std::ranges::min_element(sums, {}, [&](const FrontItem& i) { return filter_.value(i); });
    if (best == sums.end() || filter_.value(*best) - unpriced_ >= asked_)
      return {std::move(answer)};
    answer.bound = filter_.value(*best) - unpriced_;
    answer.bound -= tolerance_ * static_cast<double>(buckets_.size());
    answer.choice.assign(problem_.num_variables(), 0);
    std::vector<std::pair<Child, FrontItem>> open;
    take_apart(*best, roots_, stages, open);
    while (!open.empty()) {
      const auto [at, item] = open.back();
      open.pop_back();
      SHW_RETURN_IF_ERROR(choose(buckets_[at.bucket], at.entry, item, answer.choice, open));
    }
    return {std::move(answer)};
  }

  // Finds the items of the children whose sum is `sum`.
  void take_apart(FrontItem sum, std::span<const Child> children,
                  std::span<const std::vector<FrontItem>> stages,
                  std::vector<std::pair<Child, FrontItem>>& parts) const {
    for (size_t i = children.size(); i-- > 0;) {
      const Child& c = children[i];
      [&] {
        for (const FrontItem& a : stages[i])
          for (const FrontItem& b : buckets_[c.bucket].front(c.entry))
            if (a + b == sum) {
              parts.emplace_back(c, b);
              sum = a;
              return;
            }
      }();
    }
  }

  // Finds the label that produced an item of a front, given the labels of the scope.
  Status choose(const Bucket& b, size_t entry, const FrontItem& item, std::vector<uint32_t>& choice,
                std::vector<std::pair<Child, FrontItem>>& open) {
    std::vector<FrontItem> sums;
    for (uint32_t x = 0; x < problem_.num_labels(b.variable); ++x) {
      choice[b.variable] = x;
      double cost = unary_[problem_.first_label(b.variable) + x];
      for (const auto& e : b.edges) cost += problem_.edge_cost(e, choice[e.a], choice[e.b]);
      std::vector<Child> children;
      for (const uint32_t c : b.children) {
        size_t at = 0;
        for (const uint32_t u : buckets_[c].scope)
          at += choice[u] * Odometer::stride(problem_, buckets_[c].scope, u);
        children.push_back({c, at});
      }
      if (!(cost + least_of(children) + b.outside[entry] < limit_)) continue;
      std::vector<std::vector<FrontItem>> stages;
      SHW_RETURN_IF_ERROR(
          add_up(first_item(b.variable, x, cost), children, b.outside[entry], sums, &stages));
      if (std::ranges::find(sums, item) == sums.end()) continue;
      take_apart(item, children, stages, open);
      break;
    }
    return {};
  }

  const PlacementProblem& problem_;
  std::vector<ExactRow> rows_;
  uint64_t end_cells_;
  Watch& watch_;
  std::vector<double> unary_;                           // at the prices
  std::vector<std::array<double, kMaxExactRows>> use_;  // by label
  double unpriced_ = 0;  // costs at the prices minus costs without the prices of `rows_`
  const double tolerance_;
  const double asked_;
  double limit_;  // at the prices
  FrontFilter filter_;
  std::vector<Bucket> buckets_;
  std::vector<Child> roots_;
  std::vector<FrontItem> next_;
  size_t items_ = 0;
};

}  // namespace

Result<std::optional<FrontAnswer>> minimise_within_rows(
    const PlacementProblem& problem, const BudgetRows& rows, std::span<const size_t> exact,
    std::span<const double> prices, double limit, uint64_t max_cells, Watch& watch) {
  SHW_ASSIGN_OR_RETURN(const auto plan,
                       plan_elimination(problem, kMaxTableBytes, max_cells / 2, watch));
  if (!plan) return {std::nullopt};
  return Fronts(problem, rows, exact, prices, limit, max_cells, watch).run(*plan);
}

}  // namespace shw::solver
