// Problems on three mesh dims have wide tables. The solver either surveys them first, or presolves
// and sweeps them and solves their likely part in between. All ways must find the same optimum.
#include <gtest/gtest.h>

#include "bench/deeper_model.h"
#include "compiler/pipeline.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "packed.h"
#include "plan/report.h"
#include "rewrite/verify.h"
#include "test_graphs.h"

namespace shw {
namespace {

class WideProblem : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(WideProblem, HasOneOptimumWhicheverWayItIsFound) {
  const auto [name, mesh] = GetParam();
  const auto json =
      import::read_json_file(SHW_TEST_DATA "/graphs/" + std::string(name) + ".graph.pre.json.gz");
  const auto graph = import::import_fx_json(*json);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const std::vector<uint8_t> bytes = write_graph(*graph);
  double objective[2];
  for (const bool surveyed : {false, true}) {
    CompileOptions options;
    options.mesh = mesh;
    options.solver.wide_cells = surveyed ? 0 : UINT64_MAX;
    Monitor monitor;
    const auto compiled = testing::compile_packed(bytes, options, monitor);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    EXPECT_TRUE(compiled->plan.summary.proven);
    objective[surveyed] = compiled->plan.summary.objective_us;
  }
  EXPECT_NEAR(objective[0], objective[1], 2e-9 * objective[0]);
}

INSTANTIATE_TEST_SUITE_P(, WideProblem,
                         ::testing::Values(std::pair("llama_tiny_2x4", "a=2,b=2,c=2"),
                                           std::pair("llama8b_L2_8x8_einsum", "a=2,b=16,c=2")));

// After a few sweeps over 32 layers on 2×2, most labels are dropped, and the rest is eliminated.
// Without that, 74 sweeps close the gap. Uses share versions on graphs of any size, so the price of
// the plan is that of its program.
TEST(DeepProblem, IsEliminatedOnceFewLabelsAreLeft) {
  const auto two = load_graph(testing::test_graph("llama8b_L2_8x8_einsum"));
  ASSERT_TRUE(two.ok()) << two.status().message();
  const auto graph = bench::deeper_model(*two, 32, {});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  CompileOptions options{.mesh = "a=2,b=2", .keep_graph = false};
  Monitor monitor;
  const auto compiled = testing::compile_packed(write_graph(*graph), options, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const PlanSummary& s = compiled->plan.summary;
  EXPECT_TRUE(s.proven);
  EXPECT_LE(compiled->solve_stats.sweeps, 10u);
  const double planned = s.compute_us + s.comm_us;
  EXPECT_NEAR(program_cost(compiled->plan.program).us, planned, 1e-9 * planned);
}

// Mesh dims of one rank offer no choice: five mesh dims of which two have one rank are planned like
// three.
TEST(MeshDimsOfOneRank, CostNothing) {
  const std::vector<uint8_t> graph = testing::test_graph("llama_tiny_2x4");
  const auto planned = [&](const char* mesh, const char* rows) {
    CompileOptions options;
    options.mesh = mesh;
    options.input_layout = rows;
    options.keep_graph = false;
    Monitor monitor;
    auto compiled = testing::compile_packed(graph, options, monitor);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    return compiled.ok() ? std::move(compiled->plan) : Plan{};
  };
  const Plan three = planned("a=2,b=2,c=2", "S(0)RR"),
             five = planned("a=2,d=1,b=2,c=2,e=1", "S(0)S(1)RRS(0)");
  ASSERT_GT(three.summary.objective_us, 0);
  EXPECT_EQ(five.summary.num_strategies, three.summary.num_strategies);
  EXPECT_NEAR(five.summary.objective_us, three.summary.objective_us,
              1e-9 * three.summary.objective_us);
  EXPECT_EQ(five.program.steps.size(), three.program.steps.size());
}

}  // namespace
}  // namespace shw
