// Fronts of simulated steps against memory: each point must be a valid answer under its limit.
#include <gtest/gtest.h>

#include "compiler/exposure.h"
#include "compiler/fastest.h"
#include "compiler/pareto.h"
#include "compiler/programs.h"
#include "packed.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

class SimulatedFront : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.mesh = "dp=8";
    options_.parameter_budget.kind = ParameterBudget::Kind::kNone;
    options_.overlap.kind = Overlap::kSimulated;
  }
  // Computes a front of the transformer block.
  void ask(uint32_t points) {
    auto model = PreparedModel::create(testing::test_graph("block_1d8"), options_, monitor_);
    ASSERT_TRUE(model.ok()) << model.status().message();
    model_ = std::move(*model);
    auto question = ConstrainedModel::create(*model_, options_, monitor_);
    ASSERT_TRUE(question.ok()) << question.status().message();
    question_.emplace(std::move(*question));
    auto front = pareto(*question_, points, pareto_options(*model_, options_.solver), monitor_);
    ASSERT_TRUE(front.ok()) << front.status().message();
    front_ = std::move(*front);
  }

  CompileOptions options_;
  Monitor monitor_;
  std::unique_ptr<const PreparedModel> model_;
  std::optional<ConstrainedModel> question_;
  Pareto front_;
};

TEST_F(SimulatedFront, HasTheSimulatedStepsOfItsPrograms) {
  ask(4);
  const auto& points = front_.points;
  ASSERT_GE(points.size(), 4u);
  for (size_t i = 0; i < points.size(); ++i) {
    const Placed& p = points[i].placed;
    Placed again = p;
    const auto program = program_of(*model_, again, monitor_);
    ASSERT_TRUE(program.ok()) << program.status().message();
    EXPECT_EQ(Exposure::of(*program).step_us(), points[i].step_us);
    EXPECT_EQ(bytes_of(*model_, *program), static_cast<int64_t>(p.memory.program_bytes));
    EXPECT_EQ(points[i].bytes(), p.memory.program_bytes);
    if (points[i].limit_bytes > 0) {
      EXPECT_LE(p.memory.program_bytes, points[i].limit_bytes);
    }
    if (i == 0) continue;
    EXPECT_LT(points[i].bytes(), points[i - 1].bytes());
    EXPECT_GT(points[i].step_us, points[i - 1].step_us);
  }
}

// The fastest point is at least as fast as a plan without a limit. Each point is at least as fast
// as a plan within the point's limit, because the front considers everything that a plan considers.
TEST_F(SimulatedFront, AgreesWithPlans) {
  ask(4);
  for (const ParetoPoint& point : front_.points) {
    CompileOptions options = options_;
    options.memory_limit_bytes = static_cast<int64_t>(point.limit_bytes);
    options.solver = pareto_options(*model_, options.solver);
    const auto plan = testing::compile_packed(testing::test_graph("block_1d8"), options, monitor_);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(Exposure::of(plan->plan.program).step_us(), point.step_us) << point.limit_bytes;
  }
  const auto free = testing::compile_packed(testing::test_graph("block_1d8"), options_, monitor_);
  ASSERT_TRUE(free.ok()) << free.status().message();
  EXPECT_LE(front_.points.front().step_us, Exposure::of(free->plan.program).step_us());
}

// Recomputed steps count in time and in memory.
TEST_F(SimulatedFront, SeesWhatIsComputedAgain) {
  options_.recompute.kind = RecomputePolicy::Kind::kAuto;
  ask(3);
  ASSERT_GE(front_.points.size(), 2u);
  for (const ParetoPoint& point : front_.points)
    if (point.limit_bytes > 0) {
      EXPECT_LE(point.bytes(), point.limit_bytes);
    }
  EXPECT_GT(front_.points.back().step_us, front_.points.front().step_us);
}

TEST_F(SimulatedFront, SaysWhatItsNumbersAre) {
  ask(2);
  EXPECT_NE(pareto_text(*model_, front_).find("simulated ms"), std::string::npos);
  EXPECT_NE(pareto_json(*model_, front_).find("\"step\":"), std::string::npos);
  const std::string svg = pareto_svg(*model_, front_);
  EXPECT_NE(svg.find("Simulated step time"), std::string::npos);
  EXPECT_EQ(svg.find("bound "), std::string::npos);
}

}  // namespace
}  // namespace shw
