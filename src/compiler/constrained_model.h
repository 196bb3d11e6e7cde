// A prepared model under the constraints of one question, as the solver takes them. Translated
// once; memory limits, which come and go within a question, are added problem by problem.
#pragma once
#include <memory>
#include <span>
#include <utility>

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

  // The same question at other prices: those of edge i of the graph times scales[i], in the order
  // of priced_problem(). Answers have the objective and the bound of these prices.
  ConstrainedModel with_scaled_edges(std::span<const double> scales) const;

  // The same question with fewer strategies allowed. All its own constraints hold.
  ConstrainedModel with_choices(std::span<const AllowedLabels> choices) const;

  // The same question at the prices of a plan that shares this: with variables for it, and no
  // others. Null: that shares nothing.
  ConstrainedModel sharing_as(std::shared_ptr<const SharedVersions> shared) const;
  bool is_told_what_is_shared() const { return shared_ != nullptr; }

  const PreparedModel& model() const { return *model_; }
  const PlacementConstraints& constraints() const { return stated_->constraints; }
  const SideConditions& conditions() const { return stated_->conditions; }
  // The memory limit that the constraints ask for; 0: none.
  double memory_limit() const { return static_cast<double>(constraints().memory_limit_bytes); }

  // Under all constraints but the memory limit.
  const solver::PlacementProblem& problem() const { return problem_; }
  // Under a memory limit, too; 0: none. It becomes a budget for the bytes of single strategies, and
  // for copies of at least `copies.from_bytes`, as variables after those of the nodes:
  // MemoryModel::add_budget(). Shares tables.
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
  std::shared_ptr<const Stated> stated_;  // by the same question at other prices, too
  solver::PlacementProblem problem_;
  bool scaled_ = false;                           // its prices are not the model's
  std::shared_ptr<const SharedVersions> shared_;  // has variables in the problem; null: none
};

}  // namespace shw
