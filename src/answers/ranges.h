// Sensitivity analysis: how far prices and limits may change before another plan is better.
#pragma once
#include <optional>

#include "compiler/constrained_model.h"

namespace shw::answers {

// The plan that costs the same as the given plan at the end of the range, and less beyond it.
struct Rival {
  double compute_us = 0, comm_us = 0, transition_us = 0;  // at the current prices
  uint32_t changed_nodes = 0;
};

// The interval of factors f such that the plan remains optimal if every price of communication
// (bandwidth, latency and surrounding copies) is multiplied by f and nothing else changes. The cost
// of a plan is linear in f. So the search is exact: it solves next at the f where the plan's line
// meets that of a cheaper plan.
inline constexpr double kMaxFactor = 1024;
struct CommunicationRange {
  double from = 0;         // 0: optimal for any cheaper communication
  double to = kMaxFactor;  // kMaxFactor: larger factors were not searched
  std::optional<Rival> below, above;
  bool exact = true;  // false: the last solve ended without proof, and the range may be smaller
};

Result<CommunicationRange> communication_range(const ConstrainedModel& model, const Placed& plan,
                                               const solver::SolveOptions& options,
                                               Monitor& monitor);

// The memory limits under which the plan is optimal. The range begins at the plan's own peak. It
// ends between the last two values, where a cheaper plan begins to fit; infinite: no plan is
// cheaper at any limit.
struct MemoryRange {
  double from_bytes = 0;
  double to_at_least_bytes = 0, to_below_bytes = 0;
  bool exact = true;
};

Result<MemoryRange> memory_range(const ConstrainedModel& model, const Placed& plan,
                                 const solver::SolveOptions& options, Monitor& monitor);

}  // namespace shw::answers
