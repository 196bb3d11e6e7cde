// For tests that schedule a program in another way than it was.
#pragma once
#include "plan/program.h"

namespace shw::testing {

// Its steps one after another on one stream, in the order that they have; no storage has its place.
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
