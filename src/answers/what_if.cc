#include "answers/what_if.h"

#include "compiler/fastest.h"

namespace shw::answers {

Result<WhatIf> what_if(std::span<const uint8_t> graph_bytes, const CompileOptions& before,
                       const CompileOptions& after, Monitor& monitor) {
  WhatIf out;
  SHW_ASSIGN_OR_RETURN(std::unique_ptr<const PreparedModel> model,
                       PreparedModel::create(graph_bytes, before, monitor));
  out.shared = model->serves(after);
  solver::SolveOptions first = before.solver, second = after.solver;
  first.keep_warm = out.shared;
  first.deadline = first.deadline.after_share(0.5);  // half of the time for each plan
  SHW_ASSIGN_OR_RETURN(const ConstrainedModel was,
                       ConstrainedModel::create(*model, before, monitor));
  SHW_ASSIGN_OR_RETURN(const Placed placed, answer(was, first, monitor));
  SHW_ASSIGN_OR_RETURN(out.before, finish(*model, before, placed, monitor));
  if (out.shared) {
    second.warm = placed.warm.get();  // prefer the same choices among equals
  } else {
    SHW_ASSIGN_OR_RETURN(model, PreparedModel::create(graph_bytes, after, monitor));
  }
  SHW_ASSIGN_OR_RETURN(const ConstrainedModel is, ConstrainedModel::create(*model, after, monitor));
  SHW_ASSIGN_OR_RETURN(const Placed changed, answer(is, second, monitor));
  SHW_ASSIGN_OR_RETURN(out.after, finish(*model, after, changed, monitor));
  out.diff = plan_diff(out.before.plan, out.after.plan);
  return out;
}

}  // namespace shw::answers
