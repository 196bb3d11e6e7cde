// Which compute steps of an entry can wait, because they are not on its longest chains of steps.
//
//   y = mm(a, b);  dw = mm(c, d);  g = reduce_scatter(y);  z = add(g, e);  …
//     =>  dw has time: only the collective of a gradient comes after it
//
// A step has time if the longest chain through it is shorter than the longest one of the entry by
// more than a mean collective takes. Not so
//   - steps in front of a gather of parameters, which schedule-collectives places;
//   - what is computed again, which stands right in front of its readers to save memory.
// Results come before the tangents that the caller derives from them, so the chains of the forward
// pass go on into the backward pass.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "passes/entry_schedule.h"

namespace shw {

class SpareTime {
 public:
  // `steps`: of the entry, by number; they are numbered as `schedule` numbers them.
  SpareTime(const Program& program, std::span<const ProgramStep* const> steps,
            const EntrySchedule& schedule);

  bool has_time(uint32_t step) const { return has_time_[step]; }
  // Of the longest chain behind the step.
  double behind_us(uint32_t step) const { return behind_us_[step]; }
  // The first collective behind the step; kNoStep: none.
  uint32_t feeds(uint32_t step) const { return feeds_[step]; }

 private:
  std::vector<double> behind_us_;
  std::vector<uint32_t> feeds_;
  std::vector<uint8_t> has_time_;
};

}  // namespace shw
