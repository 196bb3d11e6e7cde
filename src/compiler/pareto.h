// The trade-off of time against memory: for each of a series of memory limits, the cheapest
// placement, or with --overlap simulated the fastest one found (fastest.h).
#pragma once
#include <vector>

#include "compiler/place.h"

namespace shw {

struct ParetoPoint {
  double limit_bytes = 0;  // the limit it was found under; 0: none
  Placed placed;
  double step_us = -1;  // simulated; negative: not simulated

  // The coordinates of the point in the curve: the simulated step and the bytes of the program, or
  // the objective and the planned peak.
  bool is_simulated() const { return step_us >= 0; }
  double us() const { return is_simulated() ? step_us : placed.objective_us; }
  double bytes() const {
    return is_simulated() ? placed.memory.program_bytes : placed.memory.peak_bytes;
  }
};

// Points are in order of decreasing memory: times strictly rise and bytes strictly fall. The first
// point is the answer without a limit; the last one is the answer at the lowest peak reached. With
// simulated times, the answer under one limit may be both faster and smaller than the answers under
// higher limits or none. It then replaces them.
struct Pareto {
  std::vector<ParetoPoint> points;
  LowestPeak lowest;
  double seconds = 0;
  uint32_t solves = 0;  // of placements, excluding the search for the lowest peak
};

// At least `points` points (minimum 2) if that many exist; fewer once the options' deadline has
// passed. `options` apply to each solve; a bound found under one limit is valid for all lower ones.
Result<Pareto> pareto(const ConstrainedModel& model, uint32_t points,
                      const solver::SolveOptions& options, Monitor& monitor);

// These options with a limit on the work of a solve, by the size of the graph: work is
// counted, so every machine finds the same points.
solver::SolveOptions pareto_options(const PreparedModel& model,
                                    const solver::SolveOptions& options);

std::string pareto_text(const PreparedModel& model, const Pareto& pareto);  // a table
std::string pareto_json(const PreparedModel& model, const Pareto& pareto);
std::string pareto_svg(const PreparedModel& model, const Pareto& pareto);

}  // namespace shw
