// Runs consecutive steps that work row by row on some of the rows at a time. Their intermediate
// results then take memory for those rows only.
//
//   a = cast(x); b = exp(a); y = mul(b, t)
//     =>  a0 = cast(x[0]); b0 = exp(a0); y[0] = mul(b0, t[0]);
//         a1 = cast(x[1]); b1 = exp(a1); y[1] = mul(b1, t[1])
//
// These are the steps that a group of fused steps may contain (plan/sliced_step.h), and products
// whose parts together take little longer than the whole. Any other step in between moves in front
// of them if it needs none of them, and behind them otherwise.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "plan/sliced_step.h"
#include "recompute/fullest_step.h"

namespace shw {

struct RowParts {
  // Steps of the program, ascending: those that run in parts, and those that move in front or
  // behind.
  std::vector<uint32_t> members, front, behind;
  std::vector<SlicedStep> sliced;  // by member
  std::vector<double> part_us;     // by member
  SliceLoops loops;                // one slice is one part
  std::vector<StorageId> temporaries;
  int64_t saved_bytes = 0;  // at the fullest step
  double more_us = 0;       // time that the parts take beyond the whole steps

  int64_t num_parts() const;
};

// Of the candidates around the fullest step, the one that saves the most bytes for its time;
// nothing if none saves `least_bytes`. `copy_us` is the time to copy that many bytes; if it is
// empty, products stay whole.
std::optional<RowParts> best_row_parts(const Program& program, const FullestStep& fullest,
                                       int64_t least_bytes,
                                       const std::function<double(int64_t bytes)>& copy_us);
// The program must consist of one entry.
void run_in_parts(Program& program, const RowParts& run);

}  // namespace shw
