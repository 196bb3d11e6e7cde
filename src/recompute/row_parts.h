// Steps in a row that work row by row, done for some of the rows at a time: what only they see is
// then held for those rows alone.
//
//   a = cast(x); b = exp(a); y = mul(b, t)
//     =>  a0 = cast(x[0]); b0 = exp(a0); y[0] = mul(b0, t[0]);
//         a1 = cast(x[1]); b1 = exp(a1); y[1] = mul(b1, t[1])
//
// Such steps are those that a group of fused steps could have (plan/sliced_step.h), and products,
// where their parts take little longer. A step in between that does not work so moves in front of
// them if it needs none of them, and behind them else.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "plan/sliced_step.h"
#include "recompute/fullest_step.h"

namespace shw {

struct RowParts {
  // Of the program, ascending: what runs in parts, and what moves.
  std::vector<uint32_t> members, front, behind;
  std::vector<SlicedStep> sliced;  // by member
  std::vector<double> part_us;     // by member
  SliceLoops loops;                // one slice is one part
  std::vector<StorageId> temporaries;
  int64_t saved_bytes = 0;  // of those at the fullest step
  double more_us = 0;       // than the steps as they are

  int64_t num_parts() const;
};

// The one around the fullest step that saves the most for its time; nothing if none saves
// `least_bytes`. `copy_us`: of so many bytes; without it products stay as they are.
std::optional<RowParts> best_row_parts(const Program& program, const FullestStep& fullest,
                                       int64_t least_bytes,
                                       const std::function<double(int64_t bytes)>& copy_us);
// The steps of the program are those of one entry.
void run_in_parts(Program& program, const RowParts& run);

}  // namespace shw
