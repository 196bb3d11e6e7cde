// Plans one graph under two sets of options and compares the results.
#pragma once
#include <span>

#include "answers/plan_diff.h"
#include "compiler/planner.h"

namespace shw::answers {

struct WhatIf {
  Compiled before, after;
  bool shared = false;  // one planner served both
  PlanDiff diff;
};

// If only constraints differ, one planner serves both.
Result<WhatIf> what_if(std::span<const uint8_t> graph_bytes, const CompileOptions& before,
                       const CompileOptions& after, Monitor& monitor);

}  // namespace shw::answers
