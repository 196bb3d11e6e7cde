// Fronts of time against memory: they are monotone, each point is within its limit, and both ends
// are correct.
#include "compiler/pareto.h"

#include <gtest/gtest.h>

#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"

namespace shw {
namespace {

struct ParetoCase {
  const char *graph, *mesh;
  uint64_t branch_nodes;  // with 20 or fewer, points are not refined
};
class ParetoFront : public ::testing::TestWithParam<ParetoCase> {};

TEST_P(ParetoFront, FallsFromTheOptimumToTheLowestPeak) {
  const auto [name, mesh, branch_nodes] = GetParam();
  const auto json =
      import::read_json_file(SHW_TEST_DATA "/graphs/" + std::string(name) + ".graph.pre.json.gz");
  const auto graph = import::import_fx_json(*json);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  CompileOptions options;
  options.mesh = mesh;
  options.input_layout = "S(0)R";
  options.optimizer_factor = 2;
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  options.solver.max_branch_nodes = branch_nodes;
  Monitor monitor;
  const auto made = PreparedModel::create(write_graph(*graph), options, monitor);
  ASSERT_TRUE(made.ok()) << made.status().message();
  const PreparedModel& model = **made;
  const auto question = ConstrainedModel::create(model, options, monitor);
  ASSERT_TRUE(question.ok()) << question.status().message();
  const auto front = pareto(*question, 12, options.solver, monitor);
  ASSERT_TRUE(front.ok()) << front.status().message();
  const auto& points = front->points;
  ASSERT_GE(points.size(), 12u);
  for (size_t i = 0; i < points.size(); ++i) {
    const Placed& p = points[i].placed;
    EXPECT_EQ(model.memory().peak(p.choice).bytes, p.memory.peak_bytes);
    if (points[i].limit_bytes > 0) {
      EXPECT_LE(p.memory.peak_bytes, points[i].limit_bytes);
      EXPECT_LE(p.memory.program_bytes, points[i].limit_bytes);
    }
    EXPECT_LE(p.bound_us, p.objective_us);
    if (i == 0) continue;
    EXPECT_LT(p.memory.peak_bytes, points[i - 1].placed.memory.peak_bytes);
    EXPECT_GT(p.objective_us, points[i - 1].placed.objective_us);
    EXPECT_GE(p.bound_us, points[i - 1].placed.bound_us);
  }

  const auto free = place(*question, options.solver, monitor);
  ASSERT_TRUE(free.ok());
  EXPECT_EQ(points.front().placed.objective_us, free->objective_us);
  const auto last = place(*question, front->lowest.reached_bytes, options.solver, monitor);
  ASSERT_TRUE(last.ok()) << last.status().message();
  // A point equals what a plan finds, unless a placement found for another limit fits and is as
  // good.
  if (points.back().limit_bytes == front->lowest.reached_bytes)
    EXPECT_EQ(points.back().placed.objective_us, last->objective_us);
  else
    EXPECT_LE(points.back().placed.objective_us, last->objective_us);
  EXPECT_LE(points.back().placed.memory.peak_bytes, front->lowest.reached_bytes);

  const std::string svg = pareto_svg(model, *front);
  size_t marks = 0;
  for (size_t at = 0; (at = svg.find("<circle", at)) != std::string::npos; ++at) ++marks;
  EXPECT_EQ(marks, points.size());
  EXPECT_NE(pareto_json(model, *front).find("\"lowest_peak\""), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Graphs, ParetoFront,
                         ::testing::Values(ParetoCase{"block_1d8", "dp=8,tp=8", 30},
                                           ParetoCase{"block_1d8", "dp=8,tp=8", 10},
                                           ParetoCase{"llama8b_L2_8x8_einsum", "dp=8,tp=8", 30}),
                         [](const auto& test) {
                           return std::string(test.param.graph) + "_" +
                                  std::to_string(test.param.branch_nodes);
                         });

}  // namespace
}  // namespace shw
