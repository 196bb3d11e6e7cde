// Finds the compute steps of an entry that can be deferred, because they are not on its longest
// chains of dependent steps.
//
//   y = mm(a, b);  dw = mm(c, d);  g = reduce_scatter(y);  z = add(g, e);  …
//     =>  dw has time: only the collective of a gradient comes after it
//
// A step has spare time if the longest chain through it is shorter than the longest one of the
// entry by more than the mean time of a collective. Exceptions:
//   - steps in front of a gather of parameters, which schedule-collectives places;
//   - repeated steps, which are placed right in front of their readers to save memory.
// The caller computes tangents from results, so chains of the forward pass continue into the
// backward pass.
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
  // The duration of the longest chain after the step.
  double behind_us(uint32_t step) const { return behind_us_[step]; }
  // The first collective after the step; kNoStep: none.
  uint32_t feeds(uint32_t step) const { return feeds_[step]; }

 private:
  std::vector<double> behind_us_;
  std::vector<uint32_t> feeds_;
  std::vector<uint8_t> has_time_;
};

}  // namespace shw
