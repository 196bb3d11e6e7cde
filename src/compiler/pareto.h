// Time against memory: the cheapest placements under one memory limit after another.
#pragma once
#include <vector>

#include "compiler/planner.h"

namespace shw {

struct ParetoPoint {
  double limit_bytes = 0;  // under which it was found; 0: under none
  Placed placed;
};

// From the most memory to the least: objectives rise and peaks fall, strictly. The first is the
// unconstrained optimum; the last the cheapest placement at the lowest peak that was reached.
struct Pareto {
  std::vector<ParetoPoint> points;
  LowestPeak lowest;
  double seconds = 0;
  uint32_t solves = 0;  // of placements, beside those that looked for the lowest peak
};

// At least `points` points where there are so many, 2 at least; fewer once the options' deadline
// has passed. Each solve works under `options`; a bound found under one limit serves all lower
// ones.
Result<Pareto> pareto(Planner& planner, const PlacementConstraints& constraints, uint32_t points,
                      const solver::SolveOptions& options, Monitor& monitor);

// The planner's options with a limit on the work of a solve, by the size of the graph: work is
// counted, so every machine finds the same points.
solver::SolveOptions pareto_options(const Planner& planner, const solver::SolveOptions& options);

std::string pareto_text(const Planner& planner, const Pareto& pareto);  // a table
std::string pareto_json(const Planner& planner, const Pareto& pareto);
std::string pareto_svg(const Planner& planner, const Pareto& pareto);

}  // namespace shw
