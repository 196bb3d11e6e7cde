// Time against memory: the cheapest placement for each of a series of memory limits.
#pragma once
#include <vector>

#include "compiler/place.h"

namespace shw {

struct ParetoPoint {
  double limit_bytes = 0;  // the limit it was found under; 0: none
  Placed placed;
};

// By decreasing memory: objectives strictly rise and peaks strictly fall. The first point is the
// unconstrained optimum, the last the cheapest placement at the lowest peak reached.
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
