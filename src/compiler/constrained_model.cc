#include "compiler/constrained_model.h"

#include "compiler/stated_constraints.h"

namespace shw {

Result<PlacementConstraints> constraints_of(const PreparedModel& model,
                                            const CompileOptions& options) {
  return stated_constraints(options, model.graph(), model.mesh(), model.strategies(),
                            !model.plans_orders());
}

Result<ConstrainedModel> ConstrainedModel::create(const PreparedModel& model,
                                                  PlacementConstraints constraints,
                                                  Monitor& monitor) {
  ConstrainedModel out(model, std::move(constraints));
  SHW_ASSIGN_OR_RETURN(out.conditions_, side_conditions(model.graph(), model.mesh(),
                                                        model.strategies(), out.constraints_));
  if (out.conditions_.no_comm != model.no_comm() && model.options().overlap.kind != Overlap::kNone)
    return unimplemented("with overlap, '" + std::string(kCastsFirst) +
                         "' can be dropped only when the planner is created");
  SHW_ASSIGN_OR_RETURN(out.problem_, model.costs(out.conditions_.no_comm, monitor));
  add_conditions(out.conditions_, out.problem_);
  return out;
}

Result<ConstrainedModel> ConstrainedModel::create(const PreparedModel& model,
                                                  const CompileOptions& options, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(PlacementConstraints constraints, constraints_of(model, options));
  return create(model, std::move(constraints), monitor);
}

solver::PlacementProblem ConstrainedModel::problem_within(double limit_bytes,
                                                          const CountedCopies& copies) const {
  solver::PlacementProblem problem = problem_.share();
  if (limit_bytes > 0) model_->memory().add_budget(limit_bytes, copies, problem);
  return problem;
}

}  // namespace shw
