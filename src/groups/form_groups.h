// Groups of fused steps: consecutive steps that work slice by slice, such as pointwise steps,
// copies, reductions and concatenations along inner dims (plan/sliced_step.h). A group runs slice
// by slice, each slice through all of its steps, so that the result of one step is still in the
// cache when the next reads it, and results that only the group touches need not be written to
// memory at all. (Loop fusion and strip mining; XLA and Inductor call it fusion of loops.)
//
// A step in between that needs all slices, such as a product or a sum over rows, moves behind the
// group if nothing in the group depends on it, and in front of it if it depends on nothing in the
// group. A small step that depends on a step moved behind the group moves there too. The group ends
// before a step that would read or overwrite bytes of a slice that has not run yet, and at events.
//
// Example: add, pow, mean, add, rsqrt, mul, mul – a residual and its norm – become one group over
// [batch, sequence, hidden], cut into slices of some rows.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace shw {

// If other streams run beside compute, their schedule depends on the order of the compute steps, so
// fewer of these may move (kOfSchedule).
enum class StepOrder : uint8_t { kFree, kOfSchedule };
inline StepOrder order_of(const Program& scheduled) {
  return scheduled.streams.size() > 1 ? StepOrder::kOfSchedule : StepOrder::kFree;
}

// The largest number of steps from the first to the last of a group, including those in between. No
// step moves further than this.
inline constexpr uint32_t kGroupReach = 48;

// Forms groups, unless the program already has some. Returns the number of new groups.
uint32_t form_groups(Program& program, StepOrder order);

// The groups that form_groups() would form from the steps in their present order.
struct GroupsToCome {
  // By step: the first and the last step of its group, including steps in between; the step itself
  // twice if it is in no group.
  std::vector<StepSpan> spans;
  std::vector<uint8_t> sees_alone;  // by storage: only one group touches it, so it needs no memory
};
// These groups end at events. If the program has no events yet, only the first step of each group
// will wait for events (passes/streams.h).
GroupsToCome groups_to_come(const Program& program);

}  // namespace shw
