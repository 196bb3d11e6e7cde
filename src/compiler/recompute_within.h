// The fastest program that keeps within a memory limit, by the choice of what it computes again and
// of what waits in host memory.
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
  // The step of another placement that fits: what takes as long need not be found. The result may
  // then not fit, although something would.
  double beat_us = kEndless;
  PassOptions passes{};    // but for limits, and groups that free memory
  int64_t fuse_bytes = 0;  // of schedule_fused(); 0: nothing is fused
  FusePrices fuse_prices{};
  HostLink host{};
};

// `program`: lowered from `graph`, without streams, with equal steps merged. The result is
// scheduled and planned, and holds at most `limit_bytes` in arena and session; where no choice
// does, it is one that holds little. Choices are those of recompute/frontier.h.
//
// Of a small program every choice is a candidate, or, if there are many, those that are evenly
// apart, with collectives that start early or late, and the shortest simulated step that fits wins:
// it is never longer under a higher limit. Where none of these fits, and for a large program, it
// is built for about ten choices: those between which the first one lies that fits, and some that
// repeat less and start collectives later; where no choice fits with collectives as early as they
// want to start, with shorter lives as well (recompute/shorten_lives.h). The winner is scheduled
// once more with fused collectives, and they stay where that makes it faster and it still fits.
//
// With a link to host memory each choice is tried without it and with as much there as the link can
// carry. Without it comes first, so host memory is used where that gives a shorter step.
Result<Program> recompute_within(const Program& program, const Graph& graph, int64_t limit_bytes,
                                 const WithinOptions& options, Monitor& monitor);

}  // namespace shw
