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
  auto stated = std::make_shared<Stated>();
  stated->constraints = std::move(constraints);
  SHW_ASSIGN_OR_RETURN(
      stated->conditions,
      side_conditions(model.graph(), model.mesh(), model.strategies(), stated->constraints));
  const SideConditions& conditions = stated->conditions;
  if (conditions.no_comm != model.no_comm() && discounts_edges(model.options().overlap.kind))
    return unimplemented("with overlap, '" + std::string(kCastsFirst) +
                         "' can be dropped only when the planner is created");
  SHW_ASSIGN_OR_RETURN(solver::PlacementProblem problem, model.costs(conditions.no_comm, monitor));
  add_conditions(conditions, problem);
  return ConstrainedModel(model, std::move(stated), std::move(problem));
}

Result<ConstrainedModel> ConstrainedModel::create(const PreparedModel& model,
                                                  const CompileOptions& options, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(PlacementConstraints constraints, constraints_of(model, options));
  return create(model, std::move(constraints), monitor);
}

ConstrainedModel ConstrainedModel::with_scaled_edges(std::span<const double> scales) const {
  ConstrainedModel out(*model_, stated_, problem_.with_scaled_edges(scales));
  out.scaled_ = true;
  out.shared_ = shared_;
  return out;
}

ConstrainedModel ConstrainedModel::with_choices(std::span<const AllowedLabels> choices) const {
  ConstrainedModel out(*model_, stated_, problem_.share());
  out.scaled_ = scaled_;
  out.shared_ = shared_;
  add_labels(choices, out.problem_);
  return out;
}

ConstrainedModel ConstrainedModel::sharing_as(std::shared_ptr<const SharedVersions> shared) const {
  if (shared == nullptr) shared = std::make_shared<const SharedVersions>();
  ConstrainedModel out(*model_, stated_, problem_.share());
  model_->add_shared(*shared, conditions().no_comm, out.problem_);
  out.shared_ = std::move(shared);
  return out;
}

solver::PlacementProblem ConstrainedModel::problem_within(double limit_bytes,
                                                          const CountedCopies& copies) const {
  solver::PlacementProblem problem = problem_.share();
  if (limit_bytes > 0) model_->memory().add_budget(limit_bytes, copies, problem);
  return problem;
}

}  // namespace shw
