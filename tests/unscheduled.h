// Removes the schedule of a program, for tests that schedule it in another way.
#pragma once
#include "plan/program.h"

namespace shw::testing {

// Puts all steps on one stream, in program order, and removes all storage offsets.
inline void unschedule(Program& p) {
  p.streams.resize(1);
  p.num_events = 0;
  drop_fused_groups(p);
  for (ProgramStep& step : p.steps) {
    step.stream = kComputeStream;
    step.waits.clear();
    step.records = kNoEvent;
  }
  for (ProgramStorage& s : p.storages) s.offset_bytes = -1;
}

}  // namespace shw::testing
