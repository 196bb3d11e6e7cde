// Fronts (Pareto sets) of cost against usage, which the entries of an elimination table hold
// (fronts.h).
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "solver/fronts.h"

namespace shw::solver {

// A labelling of the variables eliminated below an entry: its cost at the prices, and its usage of
// the exact rows.
struct FrontItem {
  double cost;
  std::array<double, kMaxExactRows> use;

  FrontItem operator+(const FrontItem& other) const {
    FrontItem sum = *this;
    sum.cost += other.cost;
    for (size_t r = 0; r < kMaxExactRows; ++r) sum.use[r] += other.use[r];
    return sum;
  }
  bool operator==(const FrontItem& other) const = default;
};

// A row of the budgets that is treated exactly: its index, its price, which all costs include, and
// its slack.
struct ExactRow {
  size_t index;
  double price, slack;
};

// Drops dominated items: another item costs no more, without the rows' prices, and uses no more in
// each row.
class FrontFilter {
 public:
  // `tolerance`: costs that differ by less count as equal.
  FrontFilter(const std::vector<ExactRow>& rows, double tolerance)
      : rows_(rows), tolerance_(tolerance) {}

  double value(const FrontItem& item) const {
    double value = item.cost;
    for (size_t r = 0; r < rows_.size(); ++r) value -= rows_[r].price * item.use[r];
    return value;
  }
  // Also sorts by value. Stops with incomplete items if is_over(comparisons) returns true. It is
  // called every few milliseconds; sorting does not count as comparisons.
  template <class IsOver>
  Status operator()(std::vector<FrontItem>& items, IsOver is_over) {
    SHW_ASSIGN_OR_RETURN(const bool is_sorted, sort(items, is_over));
    items.clear();
    if (!is_sorted) return {};
    frontier_.clear();
    for (const auto& [value, item] : by_value_) {
      SHW_ASSIGN_OR_RETURN(const bool over, is_over(16 + 2 * frontier_.size()));
      if (over) break;
      if (is_dominated(item)) continue;
      items.push_back(item);
      insert(item);
    }
    return {};
  }

 private:
  using Use = std::array<double, kMaxExactRows>;
  using Valued = std::pair<double, FrontItem>;
  static constexpr size_t kRun = 1 << 15;  // items sorted or merged between calls of is_over

  static bool is_before(const Valued& a, const Valued& b) {
    return std::tie(a.first, a.second.use) < std::tie(b.first, b.second.use);
  }
  // Merge sort into by_value_: sorts runs, then merges neighbouring runs. False: is_over returned
  // true.
  template <class IsOver>
  Result<bool> sort(const std::vector<FrontItem>& items, IsOver& is_over) {
    by_value_.clear();
    for (size_t first = 0; first < items.size(); first += kRun) {
      const size_t end = std::min(first + kRun, items.size());
      for (size_t i = first; i < end; ++i)
        by_value_.emplace_back(std::floor(value(items[i]) / tolerance_), items[i]);
      std::sort(by_value_.begin() + static_cast<ptrdiff_t>(first), by_value_.end(), is_before);
      SHW_ASSIGN_OR_RETURN(const bool over, is_over(0));
      if (over) return false;
    }
    for (size_t run = kRun; run < by_value_.size(); run *= 2) {
      merged_.clear();
      for (size_t first = 0; first < by_value_.size(); first += 2 * run) {
        SHW_ASSIGN_OR_RETURN(const bool in_time, merge(first, run, is_over));
        if (!in_time) return false;
      }
      std::swap(by_value_, merged_);
    }
    return true;
  }
  template <class IsOver>
  Result<bool> merge(size_t first, size_t run, IsOver& is_over) {
    const size_t middle = std::min(first + run, by_value_.size());
    const size_t end = std::min(middle + run, by_value_.size());
    for (size_t a = first, b = middle; a < middle || b < end;) {
      const bool from_b = a == middle || (b < end && is_before(by_value_[b], by_value_[a]));
      merged_.push_back(by_value_[from_b ? b++ : a++]);
      if (merged_.size() % kRun > 0) continue;
      SHW_ASSIGN_OR_RETURN(const bool over, is_over(0));
      if (over) return false;
    }
    return true;
  }
  static bool covers(const Use& a, const Use& b) {
    bool covers = true;
    for (size_t r = 0; r < kMaxExactRows; ++r) covers &= a[r] <= b[r];
    return covers;
  }
  bool is_dominated(const FrontItem& item) const {
    return std::ranges::any_of(frontier_, [&](const Use& use) { return covers(use, item.use); });
  }
  void insert(const FrontItem& item) {
    std::erase_if(frontier_, [&](const Use& use) { return covers(item.use, use); });
    frontier_.push_back(item.use);
  }

  const std::vector<ExactRow>& rows_;
  const double tolerance_;
  std::vector<Valued> by_value_, merged_;
  std::vector<Use> frontier_;  // usages of the items kept so far, without dominated ones
};

}  // namespace shw::solver
