// Time against memory: the cheapest placement for each of a series of memory limits, or the fastest
// found (--overlap simulated, fastest.h).
#pragma once
#include <vector>

#include "compiler/place.h"

namespace shw {

struct ParetoPoint {
  double limit_bytes = 0;  // the limit it was found under; 0: none
  Placed placed;
  double step_us = -1;  // simulated; negative: not asked for

  // What the curve is drawn of: the simulated step and what its program takes, or the objective and
  // the planned peak.
  bool is_simulated() const { return step_us >= 0; }
  double us() const { return is_simulated() ? step_us : placed.objective_us; }
  double bytes() const {
    return is_simulated() ? placed.memory.program_bytes : placed.memory.peak_bytes;
  }
};

// By decreasing memory: times strictly rise and bytes strictly fall. The first point is the answer
// without a limit, the last the answer at the lowest peak reached. Simulated, what is found under
// one limit may be both faster and smaller than what is found under higher ones or none; it then
// takes their place.
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
