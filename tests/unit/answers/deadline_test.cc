// Every kind of question keeps its time limit, and returns what was found by then with its bound.
#include <gtest/gtest.h>

#include <ctime>

#include "answers/explain.h"
#include "answers/explain_plan.h"
#include "answers/search.h"
#include "answers/what_if.h"
#include "compiler/pareto.h"
#include "compiler/pipeline.h"
#include "sanitized.h"
#include "unit/answers/planned.h"

namespace shw::answers {
namespace {

// Time is the CPU time of this process, so that other work on the machine does not count. This is
// valid because a single thread works here and never sleeps.
class Timed : public ::testing::TestWithParam<double> {
 protected:
  Timed() : graph_(testing::graph_of({"llama8b_L2_8x8_einsum", nullptr, Rules::kFull, nullptr})) {
    options_.mesh = "dp=8,tp=8";
    options_.keep_graph = false;
    options_.optimizer_factor = 2;
    options_.parameter_budget.kind = ParameterBudget::Kind::kNone;
    options_.solver.relative_gap = 0;  // so that the search uses all the time it gets
    options_.time_limit_s = GetParam();
    start();
  }
  // The time that the model's preparation takes is not measured.
  void start() {
    options_.start();
    began_ = std::clock();
  }
  std::unique_ptr<const PreparedModel> model() {
    CompileOptions untimed = options_;
    untimed.solver.deadline = {};
    auto made = testing::model_of(untimed, graph_);
    start();
    return made;
  }
  ConstrainedModel asked(const PreparedModel& model) {
    auto constrained = ConstrainedModel::create(model, options_, monitor_);
    EXPECT_TRUE(constrained.ok()) << constrained.status().message();
    return std::move(*constrained);
  }
  ~Timed() override {
    const double took = static_cast<double>(std::clock() - began_) / CLOCKS_PER_SEC;
    EXPECT_LE(took, 1.1 * GetParam() + 0.2 * kSlower);
  }
  // On a busy machine there may not have been enough time to find a solution.
  static bool answered(const Status& status) {
    if (!status.ok()) {
      EXPECT_EQ(status.code(), Code::kDeadlineExceeded) << status.message();
    }
    return status.ok();
  }
  static void expect_bounded(double objective, double bound) {
    EXPECT_GT(bound, 0);
    EXPECT_LE(bound, objective);
  }

  static constexpr double kSlower = shw::testing::kSanitized ? 10 : 1;
  Monitor monitor_;
  CompileOptions options_;
  std::vector<uint8_t> graph_;
  std::clock_t began_ = 0;
};

TEST_P(Timed, PlanWithinMemory) {
  options_.memory_limit_bytes = 3'000'000'000;
  const auto made = model();
  const auto compiled = compile(*made, options_, monitor_);
  if (!answered(compiled.status())) return;
  const PlanSummary& s = compiled->plan.summary;
  EXPECT_LE(s.memory_program_bytes, options_.memory_limit_bytes);
  expect_bounded(s.objective_us, s.bound_us);
  EXPECT_FALSE(s.proven);
}

TEST_P(Timed, PlanWithinTooLittleMemory) {
  options_.memory_limit_bytes = 1'800'000'000;
  const auto made = model();
  const auto compiled = compile(*made, options_, monitor_);
  ASSERT_FALSE(compiled.ok());
}

TEST_P(Timed, Pareto) {
  const auto made = model();
  const auto front = pareto(asked(*made), 200, options_.solver, monitor_);
  if (!answered(front.status())) return;
  ASSERT_FALSE(front->points.empty());
  for (const ParetoPoint& p : front->points)
    expect_bounded(p.placed.objective_us, p.placed.bound_us);
}

TEST_P(Timed, Explanation) {
  options_.memory_limit_bytes = 3'000'000'000;
  const auto made = model();
  const auto answer =
      explain(asked(*made),
              {.node = "param.layers.0._checkpoint_wrapped_module.attention.wq.weight",
               .forced_layouts = 50},
              options_.solver, monitor_);
  if (!answered(answer.status())) return;
  expect_bounded(answer->objective_us, answer->bound_us);
}

TEST_P(Timed, ExplanationOfThePlan) {
  options_.memory_limit_bytes = 3'000'000'000;
  const auto made = model();
  const auto answer = explain_plan(asked(*made), options_.solver, monitor_);
  if (!answered(answer.status())) return;
  expect_bounded(answer->objective_us, answer->bound_us);
}

TEST_P(Timed, WhatIf) {
  CompileOptions after = options_;
  after.memory_limit_bytes = 3'000'000'000;
  const auto answer = what_if(graph_, options_, after, monitor_);
  if (!answered(answer.status())) return;
  const PlanSummary& s = answer->after.plan.summary;
  expect_bounded(s.objective_us, s.bound_us);
}

TEST_P(Timed, Search) {
  options_.mesh.clear();
  options_.memory_limit_bytes = 3'000'000'000;
  const auto found = search_meshes(graph_, options_, {.devices = 64, .threads = 1}, monitor_);
  ASSERT_TRUE(found.ok()) << found.status().message();
  for (const MeshCandidate& c : *found)
    if (c.status.ok()) expect_bounded(c.objective_us, c.bound_us);
}

INSTANTIATE_TEST_SUITE_P(Limits, Timed, ::testing::Values(0.4));

}  // namespace
}  // namespace shw::answers
