// A prepared model together with the constraints of one question, in the form that the solver
// takes. Constraints are translated once. Memory limits change within a question, so they are added
// to each problem separately.
#pragma once
#include <memory>
#include <span>
#include <utility>

#include "compiler/prepared_model.h"
#include "placement/constraints.h"

namespace shw {

// The constraints that `options` state; the model must serve these options.
Result<PlacementConstraints> constraints_of(const PreparedModel& model,
                                            const CompileOptions& options);

class ConstrainedModel {
 public:
  // The model must outlive the result. UNIMPLEMENTED: the constraints drop the rule for casts, or
  // add it, but the model's prices of overlap assume the opposite.
  static Result<ConstrainedModel> create(const PreparedModel& model,
                                         PlacementConstraints constraints, Monitor& monitor);
  // With the constraints that `options` state.
  static Result<ConstrainedModel> create(const PreparedModel& model, const CompileOptions& options,
                                         Monitor& monitor);

  // The same question at other prices: the prices of edge i of the graph are multiplied by
  // scales[i]. Edges are numbered as in priced_problem(). The objective and bound of an answer are
  // in these prices.
  ConstrainedModel with_scaled_edges(std::span<const double> scales) const;

  // The same question with fewer strategies allowed, in addition to its own constraints.
  ConstrainedModel with_choices(std::span<const AllowedLabels> choices) const;

  // The same question at the prices of a plan that shares the versions in `shared`. The problem
  // gets variables for these versions and for no others. Null: the plan shares nothing.
  ConstrainedModel sharing_as(std::shared_ptr<const SharedVersions> shared) const;
  bool is_told_what_is_shared() const { return shared_ != nullptr; }

  const PreparedModel& model() const { return *model_; }
  const PlacementConstraints& constraints() const { return stated_->constraints; }
  const SideConditions& conditions() const { return stated_->conditions; }
  // The memory limit that the constraints ask for; 0: none.
  double memory_limit() const { return static_cast<double>(constraints().memory_limit_bytes); }

  // Under all constraints but the memory limit.
  const solver::PlacementProblem& problem() const { return problem_; }
  // The problem with a memory limit as well (0: none). The limit becomes a budget: see
  // MemoryModel::add_budget(). The budget counts the bytes of single strategies, and copies of at
  // least `copies.from_bytes`. Each such copy is a variable after those of the nodes. The result
  // shares tables with problem().
  solver::PlacementProblem problem_within(double limit_bytes,
                                          const CountedCopies& copies = {}) const;
  Result<Placed> solve(const solver::PlacementProblem& problem, const solver::SolveOptions& options,
                       Monitor& monitor) const {
    return model_->solve(problem, options, monitor, scaled_ ? Prices::kOther : Prices::kOfGraph,
                         shared_.get());
  }

 private:
  struct Stated {
    PlacementConstraints constraints;
    SideConditions conditions;
  };
  ConstrainedModel(const PreparedModel& model, std::shared_ptr<const Stated> stated,
                   solver::PlacementProblem problem)
      : model_(&model), stated_(std::move(stated)), problem_(std::move(problem)) {}

  const PreparedModel* model_;
  std::shared_ptr<const Stated> stated_;  // shared with copies of this question
  solver::PlacementProblem problem_;
  bool scaled_ = false;                           // prices differ from the model's
  std::shared_ptr<const SharedVersions> shared_;  // versions with variables in problem_; null: none
};

}  // namespace shw
