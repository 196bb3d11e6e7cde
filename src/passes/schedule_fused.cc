#include "passes/schedule_fused.h"

#include <algorithm>

#include "passes/lifetimes.h"
#include "passes/pass.h"
#include "simulate/simulate.h"

namespace shw {
namespace {

// What is tried, as shares of the largest buffer, and steps between the first and the last of the
// collectives that are fused. Large buffers pay less latency; small ones hold less memory, and
// start no earlier than they must.
struct Try {
  int64_t share;
  uint32_t steps;
};
constexpr Try kTries[] = {{1, UINT32_MAX}, {1, 256}, {1, 64}, {8, UINT32_MAX}, {32, UINT32_MAX}};

struct Scheduled {
  Program program;
  uint32_t gone = 0;
  double us = 0;  // of all entries by their weights
  int64_t peak_bytes = 0;
};

Status schedule(Scheduled& s, Monitor& monitor) {
  static constexpr const PassDef* kSchedule[] = {&kScheduleCollectives};
  SHW_RETURN_IF_ERROR(run_passes(s.program, kSchedule, monitor).status());
  s.us = simulated_us(s.program);
  const std::vector<int64_t> live = live_bytes(lives_of(s.program), s.program.steps.size());
  if (!live.empty()) s.peak_bytes = std::ranges::max(live);
  return {};
}

}  // namespace

Result<uint32_t> schedule_fused(Program& program, int64_t bytes, const FusePrices& prices,
                                Monitor& monitor) {
  Scheduled best{.program = program};
  SHW_RETURN_IF_ERROR(schedule(best, monitor));
  const int64_t allowed_bytes = std::max(
      best.peak_bytes, std::min(program.arena_limit_bytes, best.peak_bytes + best.peak_bytes / 20));
  uint32_t last_gone = 0;
  for (const Try& t : kTries) {
    Scheduled fused{.program = program};
    fused.gone =
        fuse_collectives(fused.program, {.bytes = bytes / t.share, .steps = t.steps}, prices);
    if (fused.gone == 0) continue;
    if (fused.gone == last_gone) continue;  // the same
    last_gone = fused.gone;
    SHW_RETURN_IF_ERROR(schedule(fused, monitor));
    if (fused.us < best.us && fused.peak_bytes <= allowed_bytes) best = std::move(fused);
  }
  program = std::move(best.program);
  return best.gone;
}

}  // namespace shw
