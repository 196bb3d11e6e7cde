#include "passes/schedule_fused.h"

#include <algorithm>

#include "passes/lifetimes.h"
#include "passes/pass.h"
#include "simulate/simulate.h"

namespace shw {
namespace {

// The sizes tried: buffers as shares of the largest one, and the number of steps between the first
// and the last of the fused collectives. Large buffers pay less latency. Small buffers hold less
// memory, and their collectives need not start as early.
struct Try {
  int64_t share;
  uint32_t steps;
};
constexpr Try kTries[] = {{1, UINT32_MAX}, {1, 256}, {1, 64}, {8, UINT32_MAX}, {32, UINT32_MAX}};
// Then buffers of reduce-scatters are tried, with the best of the sizes above. Each operand of a
// fused reduce-scatter is copied, and held until the last one is ready.
constexpr int64_t kScatterShares[] = {1, 8, 32};

struct Scheduled {
  Program program;
  FuseLimits limits{};
  uint32_t gone = 0;
  double us = 0;  // of all entries by their weights
  int64_t peak_bytes = 0;
};

Status schedule(Scheduled& s, const PassOptions& options, Monitor& monitor) {
  static constexpr const PassDef* kSchedule[] = {&kScheduleCollectives};
  SHW_RETURN_IF_ERROR(run_passes(s.program, kSchedule, options, monitor, Verify::kLater).status());
  s.us = simulated_us(s.program);
  s.peak_bytes = live_peak_bytes(s.program);
  return {};
}

}  // namespace

Result<uint32_t> schedule_fused(Program& program, int64_t bytes, const FusePrices& prices,
                                const PassOptions& options, Monitor& monitor) {
  Scheduled best{.program = program};
  SHW_RETURN_IF_ERROR(schedule(best, options, monitor));
  const int64_t allowed_bytes = std::max(
      best.peak_bytes, std::min(options.arena_limit_bytes, best.peak_bytes + best.peak_bytes / 20));
  uint32_t last_gone = 0;
  const auto try_with = [&](const FuseLimits& limits) -> Status {
    Scheduled fused{.program = program, .limits = limits};
    fused.gone = fuse_collectives(fused.program, limits, prices);
    if (fused.gone == 0 || fused.gone == last_gone) return {};  // the same as before
    last_gone = fused.gone;
    SHW_RETURN_IF_ERROR(schedule(fused, options, monitor));
    if (fused.us < best.us && fused.peak_bytes <= allowed_bytes) best = std::move(fused);
    return {};
  };
  for (const Try& t : kTries)
    SHW_RETURN_IF_ERROR(try_with({.bytes = bytes / t.share, .steps = t.steps}));
  FuseLimits limits = best.limits;
  if (best.gone == 0) limits.steps = UINT32_MAX;
  last_gone = best.gone;
  for (const int64_t share : kScatterShares) {
    limits.scatter_bytes = bytes / share;
    SHW_RETURN_IF_ERROR(try_with(limits));
  }
  program = std::move(best.program);
  return best.gone;
}

}  // namespace shw
