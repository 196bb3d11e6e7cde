// Groups of fused steps: steps in a row that work slice by slice, such as pointwise steps, copies,
// reductions and concatenations along inner dims (plan/sliced_step.h). A group runs slice by slice,
// each slice through all of its steps, so that what one step leaves is still in the cache when the
// next reads it, and what only the group sees need not be written to memory at all. (Loop fusion
// and strip mining; XLA and Inductor call it fusion of loops.)
//
// A step in between that needs all slices, such as a product or a sum over rows, moves behind the
// group if nothing in the group waits for it, and in front of it if it waits for nothing in the
// group. A small step that waits for one behind goes there too. The group ends before a step that
// would read or overwrite bytes of a slice whose turn has not come, and at events.
//
// Example: add, pow, mean, add, rsqrt, mul, mul – a residual and its norm – become one group over
// [batch, sequence, hidden], cut into slices of some rows.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace shw {

// Where other streams run beside compute, their schedule rests on the order of its steps: there
// fewer of them move.
enum class StepOrder : uint8_t { kFree, kOfSchedule };
inline StepOrder order_of(const Program& scheduled) {
  return scheduled.streams.size() > 1 ? StepOrder::kOfSchedule : StepOrder::kFree;
}

// A group has so many steps at most, with those between them. So it moves none further.
inline constexpr uint32_t kGroupReach = 48;

// Puts the steps into groups, unless they are in some already. Returns how many groups there are
// then that were not there before.
uint32_t form_groups(Program& program, StepOrder order);

// The groups that would be formed of the steps as they stand.
struct GroupsToCome {
  // By step: from the first to the last of its group, with what stands between; or the step itself
  // twice.
  std::vector<StepSpan> spans;
  std::vector<uint8_t> sees_alone;  // by storage: a group sees it alone, so it takes no memory
};
// They end at events. Where the program has none yet, only the first step of a group is to wait
// (passes/streams.h).
GroupsToCome groups_to_come(const Program& program);

}  // namespace shw
