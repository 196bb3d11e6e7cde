// An order of one entry's steps in which compute that has time runs while other compute waits for a
// collective.
//
//   y = mm(a, b);  dw = mm(c, d);  g = reduce_scatter(y);  z = add(g, e)   # z waits for g
//     =>  y = mm(a, b);  g = reduce_scatter(y);  dw = mm(c, d);  z = add(g, e)
//
// A list schedule: one walk over an order, with a clock for compute and one for each communicator.
// Steps that have time (spare_time.h) are put off, and with them what only they hold up. They run
//   - where the next step would have to wait: the one that fits best, also one from further behind
//     if it frees as much scratch as it makes; else the next cast of a parameter that soon comes
//     anyway, whose gather stays;
//   - when a step that has no time needs them;
//   - when they alone hold more scratch than they may, or too many are put off: the oldest;
//   - when a reduction of gradients waits for them and enough products ran since the last one;
//   - when their collectives' communicator has more to do than compute, and would soon stand idle.
// The next gather of parameters starts before its place if its communicator stands idle.
#pragma once
#include <cstdint>

#include "passes/entry_schedule.h"
#include "passes/spare_time.h"

namespace shw {

struct FillBounds {
  // Of scratch that only steps that are put off still need, and of results of gathers that start
  // before their places.
  int64_t held_bytes = 0;
  int64_t live_bytes = 0;  // of all scratch: nothing is put off beyond
  // That are put off at a time, and between a gather that starts before its place and its reader.
  uint32_t steps = 0;
  // Products between two reductions of gradients: beyond it, those that are put off and that a
  // reduction waits for come first.
  uint32_t products = UINT32_MAX;
};

// `steps`: as for SpareTime.
EntrySchedule::Order fill_waits(const Program& program, std::span<const ProgramStep* const> steps,
                                const EntrySchedule& schedule, const EntrySchedule::Order& order,
                                const FillBounds& bounds);

}  // namespace shw
