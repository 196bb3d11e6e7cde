// The slack of every row of a budget, with range minimum and range addition. Rows are grouped in
// blocks, so an operation touches two partial blocks and one entry for each block in between.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace shw::solver {

class RangeSlack {
 public:
  explicit RangeSlack(std::vector<double> slack)
      : value_(std::move(slack)), added_(value_.size() / kBlock + 1), least_(added_.size()) {
    for (size_t b = 0; b < least_.size(); ++b) refresh(b);
  }

  double least(uint32_t first, uint32_t end) const {
    double m = std::numeric_limits<double>::infinity();
    while (first < end) {
      const uint32_t b = first / kBlock, stop = std::min(end, (b + 1) * kBlock);
      if (stop - first == kBlock) {
        m = std::min(m, least_[b] + added_[b]);
      } else {
        double part = std::numeric_limits<double>::infinity();
        for (uint32_t r = first; r < stop; ++r) part = std::min(part, value_[r]);
        m = std::min(m, part + added_[b]);
      }
      first = stop;
    }
    return m;
  }

  void add(uint32_t first, uint32_t end, double x) {
    while (first < end) {
      const uint32_t b = first / kBlock, stop = std::min(end, (b + 1) * kBlock);
      if (stop - first == kBlock) {
        added_[b] += x;
      } else {
        for (uint32_t r = first; r < stop; ++r) value_[r] += x;
        refresh(b);
      }
      first = stop;
    }
  }

 private:
  static constexpr uint32_t kBlock = 64;
  void refresh(size_t b) {
    double m = std::numeric_limits<double>::infinity();
    for (size_t r = b * kBlock; r < std::min(value_.size(), (b + 1) * kBlock); ++r)
      m = std::min(m, value_[r]);
    least_[b] = m;
  }
  std::vector<double> value_, added_, least_;
};

}  // namespace shw::solver
