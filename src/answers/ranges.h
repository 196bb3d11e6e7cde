// How far the world may change before another plan is better.
#pragma once
#include <optional>

#include "compiler/planner.h"

namespace shw::answers {

// The plan that is as good as ours where its range ends, and better beyond.
struct Rival {
  double compute_us = 0, comm_us = 0, transition_us = 0;  // as priced now
  uint32_t changed_nodes = 0;
};

// If every price of communication – bandwidth, latency and the copies around alike – were f times
// what it is, and all else the same, the plan would still be a cheapest one for each f from `from`
// to `to`, and for no other. The cost of a plan is linear in f, so the ends are found exactly:
// where the line of the plan meets that of a cheaper one, there is the next f to solve at.
inline constexpr double kMostFactor = 1024;
struct CommunicationRange {
  double from = 0;          // 0: however cheap it gets
  double to = kMostFactor;  // kMostFactor: it was not asked beyond
  std::optional<Rival> below, above;
  bool exact = true;  // false: the last solve ended without proof, and the range may be smaller
};

Result<CommunicationRange> communication_range(Planner& planner,
                                               const solver::PlacementProblem& problem,
                                               std::span<const uint32_t> choice,
                                               const solver::SolveOptions& options,
                                               Monitor& monitor);

// The limits of memory under which the plan is a cheapest one: from its own peak up to some limit
// between the two, above which a cheaper plan fits; infinite: none is cheaper at any limit.
struct MemoryRange {
  double from_bytes = 0;
  double to_at_least_bytes = 0, to_below_bytes = 0;
  bool exact = true;
};

Result<MemoryRange> memory_range(Planner& planner, const PlacementConstraints& constraints,
                                 const Placed& plan, const solver::SolveOptions& options,
                                 Monitor& monitor);

}  // namespace shw::answers
