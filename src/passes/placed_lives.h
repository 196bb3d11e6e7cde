// What pack.h has placed so far. A file of its own, because packing spends its time here.
#pragma once
#include <cstdint>
#include <vector>

#include "passes/lifetimes.h"

namespace shw {

// Lifetimes in order of offset, stored in runs so that an insertion moves few of them.
class PlacedLives {
 public:
  PlacedLives() : runs_(1) {}

  void insert(const Life& life, uint32_t rank);
  // Forgets the lifetimes from this rank on.
  void keep_below(uint32_t rank);
  // The lowest offset at which `life` fits.
  int64_t lowest_gap(const Life& life);
  int64_t tests() const { return tests_; }  // comparisons of two lifetimes so far

 private:
  struct Entry {
    uint32_t begin, end, rank;
    int64_t offset, top;
  };
  static constexpr size_t kRun = 128;
  std::vector<std::vector<Entry>> runs_;  // only the first may be empty
  int64_t tests_ = 0;
};

}  // namespace shw
