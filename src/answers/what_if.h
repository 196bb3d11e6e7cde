// Two plans of one graph under different options, and how they differ.
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

// Where only constraints differ, what does not depend on them is made once.
Result<WhatIf> what_if(std::span<const uint8_t> graph_bytes, const CompileOptions& before,
                       const CompileOptions& after, Monitor& monitor);

}  // namespace shw::answers
