// Fronts of cost against usage: what an entry of an elimination keeps (fronts.h).
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "solver/fronts.h"

namespace shw::solver {

// A labelling of the variables below an entry: its cost at the prices, and what it uses.
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

// A row of the budgets that is treated exactly: its number, its price among all costs, its slack.
struct ExactRow {
  size_t index;
  double price, slack;
};

// Drops items that another is at least as good as: without the rows' prices, and in each row.
class FrontFilter {
 public:
  // `tolerance`: costs that differ by less are equal.
  FrontFilter(const std::vector<ExactRow>& rows, double tolerance)
      : rows_(rows), tolerance_(tolerance) {}

  double value(const FrontItem& item) const {
    double value = item.cost;
    for (size_t r = 0; r < rows_.size(); ++r) value -= rows_[r].price * item.use[r];
    return value;
  }
  // Sorts by value as well. Stops, with items missing, where is_over(comparisons) says so.
  template <class IsOver>
  Status operator()(std::vector<FrontItem>& items, IsOver is_over) {
    by_value_.clear();
    for (const FrontItem& i : items) by_value_.emplace_back(std::floor(value(i) / tolerance_), i);
    std::ranges::sort(by_value_, {}, [](const auto& i) { return std::tie(i.first, i.second.use); });
    items.clear();
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
  std::vector<std::pair<double, FrontItem>> by_value_;
  std::vector<Use> frontier_;  // of the items kept so far, without those that use as much as others
};

}  // namespace shw::solver
