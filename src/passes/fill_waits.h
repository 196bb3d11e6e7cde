// Reorders one entry's steps so that compute steps with spare time run while others wait for a
// collective.
//
//   y = mm(a, b);  dw = mm(c, d);  g = reduce_scatter(y);  z = add(g, e)   # z waits for g
//     =>  y = mm(a, b);  g = reduce_scatter(y);  dw = mm(c, d);  z = add(g, e)
//
// A list schedule: one pass over an order, with a clock for compute and one for each communicator.
// Steps that have spare time (spare_time.h) are deferred, together with the steps that only they
// delay. They run
//   - where the next step would have to wait: the step that fits best, which may come from further
//     behind if it frees as much scratch as it makes; otherwise the next cast of a parameter that
//     is due soon anyway, without its gather;
//   - when a step that has no spare time needs them;
//   - when deferred steps hold more scratch than allowed, or too many are deferred: the oldest
//     first;
//   - when a reduction of gradients waits for them and enough products ran since the last one;
//   - when their collectives' communicator has more work than compute, and would soon be idle.
// The next gather of parameters starts before its place if its communicator is idle.
#pragma once
#include <cstdint>

#include "passes/entry_schedule.h"
#include "passes/spare_time.h"

namespace shw {

struct FillBounds {
  // Limit on the scratch that only deferred steps still need, plus the results of gathers that
  // start before their places.
  int64_t held_bytes = 0;
  int64_t live_bytes = 0;  // limit on all live scratch: no step is deferred where it is exceeded
  // Limit on the number of deferred steps, and on the steps between a gather that starts before its
  // place and its reader.
  uint32_t steps = 0;
  // Products between two reductions of gradients. After this many, the deferred products that a
  // reduction waits for come first.
  uint32_t products = UINT32_MAX;
};

// `steps`: as for SpareTime.
EntrySchedule::Order fill_waits(const Program& program, std::span<const ProgramStep* const> steps,
                                const EntrySchedule& schedule, const EntrySchedule::Order& order,
                                const FillBounds& bounds);

}  // namespace shw
