#include "answers/what_if.h"

namespace shw::answers {

Result<WhatIf> what_if(std::span<const uint8_t> graph_bytes, const CompileOptions& before,
                       const CompileOptions& after, Monitor& monitor) {
  WhatIf out;
  SHW_ASSIGN_OR_RETURN(std::unique_ptr<Planner> planner,
                       Planner::create(graph_bytes, before, monitor));
  SHW_ASSIGN_OR_RETURN(out.before, planner->compile(before, monitor));
  out.shared = planner->serves(after);
  if (!out.shared) {
    SHW_ASSIGN_OR_RETURN(planner, Planner::create(graph_bytes, after, monitor));
  }
  SHW_ASSIGN_OR_RETURN(out.after, planner->compile(after, monitor));
  out.diff = plan_diff(out.before.plan, out.after.plan);
  return out;
}

}  // namespace shw::answers
