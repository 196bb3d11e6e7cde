// A prepared model under the constraints of one question, as the solver takes them. Translated
// once; memory limits, which come and go within a question, are added problem by problem.
#pragma once
#include "compiler/prepared_model.h"
#include "placement/constraints.h"

namespace shw {

// The constraints of options that the model serves.
Result<PlacementConstraints> constraints_of(const PreparedModel& model,
                                            const CompileOptions& options);

class ConstrainedModel {
 public:
  // The model must outlive it. UNIMPLEMENTED: the model prices overlap with another rule for casts.
  static Result<ConstrainedModel> create(const PreparedModel& model,
                                         PlacementConstraints constraints, Monitor& monitor);
  // With the constraints of options that the model serves.
  static Result<ConstrainedModel> create(const PreparedModel& model, const CompileOptions& options,
                                         Monitor& monitor);

  const PreparedModel& model() const { return *model_; }
  const PlacementConstraints& constraints() const { return constraints_; }
  const SideConditions& conditions() const { return conditions_; }
  // The memory limit that the constraints ask for; 0: none.
  double memory_limit() const { return static_cast<double>(constraints_.memory_limit_bytes); }

  // Under all constraints but the memory limit.
  const solver::PlacementProblem& problem() const { return problem_; }
  // Under a memory limit, too; 0: none. It becomes a budget for the bytes of single strategies, and
  // for copies of at least `copies.from_bytes`, as variables after those of the nodes:
  // MemoryModel::add_budget(). Shares tables.
  solver::PlacementProblem problem_within(double limit_bytes,
                                          const CountedCopies& copies = {}) const;

 private:
  ConstrainedModel(const PreparedModel& model, PlacementConstraints constraints)
      : model_(&model), constraints_(std::move(constraints)) {}

  const PreparedModel* model_;
  PlacementConstraints constraints_;
  SideConditions conditions_;
  solver::PlacementProblem problem_;
};

}  // namespace shw
