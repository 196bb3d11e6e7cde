// Enumerates all labellings of several variables, and maintains the position of the current
// labelling in several tables, each over a subset of the variables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "solver/problem.h"

namespace shw::solver {

// The variables of a table; the last one varies fastest.
using Scope = std::vector<uint32_t>;

class Odometer {
 public:
  Odometer(const PlacementProblem& problem, std::span<const uint32_t> scope,
           std::span<const Scope> tables)
      : digits_(scope.size(), 0),
        strides_(scope.size() * tables.size(), 0),
        position_(tables.size(), 0) {
    for (const uint32_t v : scope) labels_.push_back(problem.num_labels(v));
    for (size_t t = 0; t < tables.size(); ++t)
      for (size_t d = 0; d < scope.size(); ++d)
        strides_[d * tables.size() + t] = stride(problem, tables[t], scope[d]);
  }
  // The distance between consecutive labels of a variable in a table; 0: the variable is not in its
  // scope.
  static size_t stride(const PlacementProblem& problem, std::span<const uint32_t> table,
                       uint32_t variable) {
    size_t step = 1;
    for (size_t i = table.size(); i-- > 0; step *= problem.num_labels(table[i]))
      if (table[i] == variable) return step;
    return 0;
  }
  size_t position(size_t table) const { return position_[table]; }
  bool next() {
    const size_t n = position_.size();
    for (size_t d = digits_.size(); d-- > 0;) {
      const bool wraps = ++digits_[d] == labels_[d];
      const size_t steps = wraps ? labels_[d] - 1 : 1;
      for (size_t t = 0; t < n; ++t) {
        const size_t by = steps * strides_[d * n + t];
        position_[t] = wraps ? position_[t] - by : position_[t] + by;
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

}  // namespace shw::solver
