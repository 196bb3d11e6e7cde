// Sensitivity analysis: how far prices and limits may change before another plan is better.
#pragma once
#include <optional>

#include "compiler/constrained_model.h"

namespace shw::answers {

// The plan that ties with ours at the end of the range and is better beyond.
struct Rival {
  double compute_us = 0, comm_us = 0, transition_us = 0;  // at the current prices
  uint32_t changed_nodes = 0;
};

// The interval of factors f such that the plan remains optimal if every price of communication
// (bandwidth, latency and surrounding copies) is multiplied by f and nothing else changes. The cost
// of a plan is linear in f, so the ends are exact: the intersection of the plan's line with that of
// a cheaper plan is the next f to solve at.
inline constexpr double kMaxFactor = 1024;
struct CommunicationRange {
  double from = 0;         // 0: for any cheaper communication
  double to = kMaxFactor;  // kMaxFactor: not searched beyond
  std::optional<Rival> below, above;
  bool exact = true;  // false: the last solve ended without proof, and the range may be smaller
};

Result<CommunicationRange> communication_range(const ConstrainedModel& model, const Placed& plan,
                                               const solver::SolveOptions& options,
                                               Monitor& monitor);

// The memory limits under which the plan is optimal: from its own peak to a limit between the two
// values, above which a cheaper plan fits; infinite: none is cheaper at any limit.
struct MemoryRange {
  double from_bytes = 0;
  double to_at_least_bytes = 0, to_below_bytes = 0;
  bool exact = true;
};

Result<MemoryRange> memory_range(const ConstrainedModel& model, const Placed& plan,
                                 const solver::SolveOptions& options, Monitor& monitor);

}  // namespace shw::answers
