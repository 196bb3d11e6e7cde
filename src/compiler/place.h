// The placement that a question asks for, and why there is none.
#pragma once
#include <vector>

#include "compiler/constrained_model.h"
#include "placement/solve_placement.h"

namespace shw {

// Solves the problem and chooses shard orders; under a memory limit, both the planned peak and the
// lowered program fit. 0: no limit. FAILED_PRECONDITION: no placement is legal or fits; constraints
// that contradict each other are named, or if the memory limit is the cause, a sufficient one.
// DEADLINE_EXCEEDED: found nothing that fits before the options' deadline. RESOURCE_EXHAUSTED:
// found nothing within the work limit.
Result<Placed> place(const ConstrainedModel& model, double limit_bytes,
                     const solver::SolveOptions& options, Monitor& monitor);
// The same placements, for who asks whether a program fits rather than for the fastest that does.
Result<Placed> place_for_any_program(const ConstrainedModel& model, double limit_bytes,
                                     const solver::SolveOptions& options, Monitor& monitor);
// Under the memory limit that the constraints ask for.
Result<Placed> place(const ConstrainedModel& model, const solver::SolveOptions& options,
                     Monitor& monitor);
// The same, but does not search for the cause where there is none.
Result<Placed> try_place(const ConstrainedModel& model, double limit_bytes,
                         const solver::SolveOptions& options, Monitor& monitor);

// Lower and upper bound on the minimum peak over all placements; equal if it is known exactly.
struct LowestPeak {
  double least_bytes = 0;                 // no placement has a lower peak
  double reached_bytes = 0;               // the peak of `choice`
  std::vector<uint32_t> choice;           // a placement
  NodeId at;                              // where its peak is
  double bound_us = -solver::kForbidden;  // no placement is cheaper
};
// Ignores the memory limit of the constraints. Of a large graph, bounds half a percent apart are
// enough. They may be wider where probes between them find nothing.
Result<LowestPeak> lowest_peak(const ConstrainedModel& model, const solver::SolveOptions& options,
                               Monitor& monitor);

// A placement within the lowest peak that was reached; `lowest.choice` if nothing cheaper is found.
// Its program is any that fits.
Result<Placed> place_at(const ConstrainedModel& model, const LowestPeak& lowest,
                        const solver::SolveOptions& options, Monitor& monitor);

}  // namespace shw
