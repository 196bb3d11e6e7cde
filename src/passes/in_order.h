// Lays lifetimes into an arena one after another, each at the lowest offset that does not conflict
// with those placed before (greedy: Pisarchyk and Lee 2020). What counts is the order.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "passes/lifetimes.h"
#include "support/monitor.h"
#include "support/status.h"

namespace shw {

struct Placing {
  int64_t bytes = 0;
  int64_t tests = 0;  // comparisons of two lifetimes
};

// Looks for an order by which the arena is smaller than `bytes`, a quarter of the way to `goal` at
// a time. Begins with those that are live at the fullest step, then at the next fuller one, and so
// on. When a lifetime does not end low enough, it moves to a random earlier place in the order, and
// the placement goes on from there. Stops after `max_tests` comparisons. Random numbers are the
// same on all machines. `live`: live_bytes() of `lives`. `fixed`: others, which keep their offsets.
//
// Returns the size of the smallest arena that it found and sets its offsets; or returns `bytes`.
Result<Placing> search_in_order(std::span<const Life> lives, const std::vector<int64_t>& live,
                                int64_t bytes, int64_t goal, int64_t max_tests,
                                std::vector<int64_t>& offsets, Monitor& monitor,
                                std::span<const Life> fixed = {});

}  // namespace shw
