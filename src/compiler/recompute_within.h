// Finds the fastest program within a memory limit, by choosing which values it computes again and
// which wait in host memory.
#pragma once
#include <limits>

#include "graph/graph.h"
#include "passes/pass_options.h"
#include "passes/schedule_fused.h"
#include "plan/program.h"
#include "recompute/offload.h"
#include "support/monitor.h"

namespace shw {

inline constexpr double kEndless = std::numeric_limits<double>::infinity();  // of a step

struct WithinOptions {
  // The step of another placement that fits. The search may skip programs that are not faster. So
  // the result may not fit although a slower program would.
  double beat_us = kEndless;
  PassOptions passes{};    // except arena_limit_bytes and groups_free_memory
  int64_t fuse_bytes = 0;  // of schedule_fused(); 0: nothing is fused
  FusePrices fuse_prices{};
  HostLink host{};
};

// `program`: lowered from `graph`, without streams, with equal steps merged. The result is
// scheduled, and its memory is planned. It holds at most `limit_bytes` in arena and session. If no
// choice achieves that, it is a program that holds little. Choices are those of
// recompute/frontier.h.
//
// For a small program, every choice is a candidate, or evenly spaced ones if there are many, with
// collectives that start early or late (every_choice.h). The shortest simulated step that fits
// wins, so a higher limit never gives a longer step. For a large program, or if no candidate fits,
// the program is built for about ten choices near the first one that fits (choices_near_limit.h).
// If no choice fits with collectives at their preferred start, these are tried with shorter lives
// as well (recompute/shorten_lives.h). The winner is scheduled once more with fused collectives.
// The fused schedule is kept if it is faster and still fits.
//
// If there is a link to host memory, each choice is tried twice: first without host memory, then
// with as many values in it as the link can carry. So host memory is used only if it gives a
// shorter step.
Result<Program> recompute_within(const Program& program, const Graph& graph, int64_t limit_bytes,
                                 const WithinOptions& options, Monitor& monitor);

}  // namespace shw
