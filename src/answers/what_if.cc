#include "answers/what_if.h"

#include "compiler/fastest.h"

namespace shw::answers {

Result<WhatIf> what_if(std::span<const uint8_t> graph_bytes, const CompileOptions& before,
                       const CompileOptions& after, Monitor& monitor) {
  WhatIf out;
  SHW_ASSIGN_OR_RETURN(std::unique_ptr<const PreparedModel> model,
                       PreparedModel::create(graph_bytes, before, monitor));
  out.shared = model->serves(after);
  CompileOptions first = before;
  first.solver.keep_warm = out.shared;
  first.solver.deadline = first.solver.deadline.after_share(0.5);  // half of the time for each plan
  solver::SolveOptions second = after.solver;
  SHW_ASSIGN_OR_RETURN(const ConstrainedModel was,
                       ConstrainedModel::create(*model, first, monitor));
  SHW_ASSIGN_OR_RETURN(const Placed placed, answer(was, first.solver, monitor));
  SHW_ASSIGN_OR_RETURN(out.before, finish(*model, first, placed, monitor));
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
