// Places lifetimes in an arena like blocks on a skyline: at each step of the program, the skyline
// is the offset below which all memory is taken.
//
// Each round takes the lowest flat part of the skyline. Of the unplaced lifetimes that lie within
// its steps, the one with the largest key is placed there. If there is none, the part rises to its
// lower neighbour, and the memory under it stays free. (Best fit of Burke, Kendall and Whitwell
// 2004 for cutting stock; for memory Sekiyama et al. 2018, where the key is the length.)
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "passes/lifetimes.h"
#include "support/monitor.h"
#include "support/status.h"

namespace shw {

class Skyline {
 public:
  // Every lifetime must have at least one step and one byte.
  explicit Skyline(std::span<const Life> lives);

  // Sets all offsets; `keys` has one key per lifetime. False: it would need more than `max_tests`
  // comparisons, and the offsets are meaningless.
  Result<bool> place(std::span<const double> keys, int64_t max_tests, std::vector<int64_t>& offsets,
                     Monitor& monitor);
  // Number of lifetimes and groups of them compared so far.
  int64_t tests() const { return tests_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Block {
    uint32_t begin, end, life;
    int64_t bytes;
    double key;
  };
  struct Part {  // a flat part; has no steps once merged into another
    uint32_t begin, end;
    int64_t height;
    uint32_t before, behind;
  };
  struct Low {  // a heap entry; stale if the part's height has changed
    int64_t height;
    uint32_t begin, part;
    // The lowest part is at the top of the heap; of equally low ones, the first.
    bool operator<(const Low& o) const {
      return std::pair(height, begin) > std::pair(o.height, o.begin);
    }
  };

  // A summary of a group's unplaced blocks. It lets the search skip most groups, because no block
  // of them fits or has a large enough key.
  struct Group {
    uint32_t earliest_end;
    double largest_key;
  };
  static constexpr uint32_t kGroup = 16;

  void sum_up(uint32_t group);
  uint32_t unplaced_from(uint32_t block);
  uint32_t largest_within(const Part& part);
  uint32_t add_behind(uint32_t part, uint32_t begin, uint32_t end, int64_t height);
  void put(uint32_t part, const Block& block);
  void raise(uint32_t part);
  void swallow_behind(uint32_t part);
  void push(uint32_t part);

  std::vector<Block> blocks_;       // by begin
  std::vector<uint32_t> first_at_;  // by step: the first block that begins there or later
  // By block: itself if it is unplaced, otherwise a later block with no unplaced block in between.
  std::vector<uint32_t> next_;
  std::vector<Group> groups_;  // of kGroup blocks each, in their order
  std::vector<Part> parts_;
  std::vector<Low> lows_;  // a heap
  int64_t tests_ = 0;
};

}  // namespace shw
