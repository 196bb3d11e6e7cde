// Finds the placement for a question, or explains why there is none.
#pragma once
#include <vector>

#include "compiler/constrained_model.h"
#include "placement/solve_placement.h"

namespace shw {

// Solves the problem and chooses shard orders; under a memory limit, both the planned peak and the
// lowered program fit. 0: no limit. FAILED_PRECONDITION: no placement is legal or fits. The message
// names the constraints that contradict each other, or, if the memory limit is the cause, a limit
// that would suffice. DEADLINE_EXCEEDED: found nothing that fits before the options' deadline.
// RESOURCE_EXHAUSTED: found nothing within the work limit.
Result<Placed> place(const ConstrainedModel& model, double limit_bytes,
                     const solver::SolveOptions& options, Monitor& monitor);
// The same placements, for callers that only need to know whether a program fits. The program is
// the first that fits, not the fastest.
Result<Placed> place_for_any_program(const ConstrainedModel& model, double limit_bytes,
                                     const solver::SolveOptions& options, Monitor& monitor);
// Under the memory limit of the constraints.
Result<Placed> place(const ConstrainedModel& model, const solver::SolveOptions& options,
                     Monitor& monitor);
// The same, but if there is no placement, does not search for the cause.
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
// Ignores the memory limit of the constraints. For a large graph, the search ends when the bounds
// are half a percent apart. They may stay further apart if probes between them find nothing.
Result<LowestPeak> lowest_peak(const ConstrainedModel& model, const solver::SolveOptions& options,
                               Monitor& monitor);

// A placement within the lowest peak that was reached: `lowest.choice` if nothing cheaper is found.
// Its program is the first that fits, not the fastest.
Result<Placed> place_at(const ConstrainedModel& model, const LowestPeak& lowest,
                        const solver::SolveOptions& options, Monitor& monitor);

}  // namespace shw
