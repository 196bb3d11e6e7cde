// Plans one graph under two sets of options and compares the results.
#pragma once
#include <span>

#include "answers/plan_diff.h"
#include "compiler/pipeline.h"

namespace shw::answers {

struct WhatIf {
  Compiled before, after;
  bool shared = false;  // one model served both
  PlanDiff diff;
};

// If only constraints differ, one model serves both.
Result<WhatIf> what_if(std::span<const uint8_t> graph_bytes, const CompileOptions& before,
                       const CompileOptions& after, Monitor& monitor);

}  // namespace shw::answers
