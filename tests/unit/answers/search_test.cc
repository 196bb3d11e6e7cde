// The search plans and ranks every mesh into which a number of devices can be arranged.
#include "answers/search.h"

#include <gtest/gtest.h>

#include <atomic>

#include "compiler/pipeline.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "packed.h"
#include "simulate/simulate.h"

namespace shw {
namespace {

std::vector<uint8_t> graph_bytes(const std::string& name) {
  const auto json = import::read_json_file(SHW_TEST_DATA "/graphs/" + name + ".graph.pre.json.gz");
  EXPECT_TRUE(json.ok()) << json.status().message();
  const auto graph = import::import_fx_json(*json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return write_graph(*graph);
}

TEST(MeshFactorisations, AreAllOrderedProducts) {
  EXPECT_EQ(
      answers::mesh_factorisations(12, 2),
      (std::vector<std::string>{"d0=12", "d0=2,d1=6", "d0=3,d1=4", "d0=4,d1=3", "d0=6,d1=2"}));
  EXPECT_EQ(answers::mesh_factorisations(64, 3).size(), 1u + 5u + 10u);
  EXPECT_EQ(answers::mesh_factorisations(1, 3), std::vector<std::string>{"d0=1"});
  EXPECT_EQ(answers::mesh_factorisations(7, 3), std::vector<std::string>{"d0=7"});
}

TEST(Search, RanksThePlansOfAllMeshes) {
  const auto graph = graph_bytes("block_1d8");
  CompileOptions options;
  options.input_layout = "S(0)";  // and replicated along all other mesh dims
  Monitor monitor;
  const auto found = answers::search_meshes(graph, options, {.devices = 16, .threads = 2}, monitor);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_EQ(found->size(), 1u + 3u + 3u);
  double last = 0;
  for (const answers::MeshCandidate& c : *found) {
    SCOPED_TRACE(c.mesh);
    ASSERT_TRUE(c.status.ok()) << c.status.message();
    EXPECT_GE(c.objective_us, last);
    last = c.objective_us;
    CompileOptions alone = options;
    alone.mesh = c.mesh;
    alone.input_layout = c.input_layout;
    const auto plan = shw::testing::compile_packed(graph, alone, monitor);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    // A plan may share changes of layout. Here each of them counts once per use.
    EXPECT_LE(plan->plan.summary.objective_us, c.objective_us);
    EXPECT_GE(plan->plan.summary.objective_us, 0.98 * c.objective_us);
    EXPECT_TRUE(c.proven);
  }
}

// With `best` set, the best meshes are those of the full search. For all others the search returns
// a bound, which must not be above the true objective.
TEST(Search, GivesUpWhatCannotBeAmongTheBest) {
  const auto graph = graph_bytes("llama_tiny_2x4");
  CompileOptions options;
  options.solver.wide_cells = 1 << 14;  // survey first and use likely parts, as for deep models
  Monitor monitor;
  const auto all = answers::search_meshes(graph, options, {.devices = 16, .threads = 2}, monitor);
  // One thread: with several, the meshes that are given up depend on which mesh is planned first.
  const auto best =
      answers::search_meshes(graph, options, {.devices = 16, .threads = 1, .best = 2}, monitor);
  ASSERT_TRUE(all.ok() && best.ok());
  ASSERT_EQ(best->size(), all->size());
  size_t given_up = 0;
  for (size_t i = 0; i < best->size(); ++i) {
    const answers::MeshCandidate& c = (*best)[i];
    SCOPED_TRACE(c.mesh);
    const auto same = std::ranges::find((*all), c.mesh, &answers::MeshCandidate::mesh);
    ASSERT_NE(same, all->end());
    EXPECT_FALSE(same->given_up);
    if (i < 2) {
      EXPECT_EQ(c.mesh, (*all)[i].mesh);
      EXPECT_EQ(c.objective_us, (*all)[i].objective_us);
      EXPECT_TRUE(c.proven);
    } else if (c.given_up) {
      ++given_up;
      EXPECT_TRUE(c.status.ok());
      EXPECT_GT(c.bound_us, (*best)[1].objective_us);
      EXPECT_LE(c.bound_us, same->objective_us * (1 + 1e-9));
    }
  }
  EXPECT_GT(given_up, 0u);
}

// When prices count what a schedule hides, a different mesh may be the fastest.
TEST(Search, RanksBySimulatedStepsWherePlansAreMadeByThem) {
  const auto graph = graph_bytes("block_1d8");
  CompileOptions options;
  Monitor monitor;
  const answers::SearchOptions search{.devices = 8, .max_mesh_dims = 2, .threads = 2, .best = 1};
  const auto by_price = answers::search_meshes(graph, options, search, monitor);
  options.overlap.kind = Overlap::kSimulated;
  const auto by_step = answers::search_meshes(graph, options, search, monitor);
  ASSERT_TRUE(by_price.ok() && by_step.ok());
  ASSERT_EQ(by_step->size(), 3u);
  double last = 0;
  for (const answers::MeshCandidate& c : *by_step) {
    SCOPED_TRACE(c.mesh);
    ASSERT_TRUE(c.status.ok() && !c.given_up) << "a price bounds no step";
    EXPECT_GE(c.step_us, last);
    last = c.step_us;
    const auto same = std::ranges::find(*by_price, c.mesh, &answers::MeshCandidate::mesh);
    if (!same->given_up) {
      EXPECT_LE(c.step_us, same->step_us);
    }
    CompileOptions alone = options;
    alone.mesh = c.mesh;
    const auto plan = shw::testing::compile_packed(graph, alone, monitor);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(simulated_us(plan->plan.program), c.step_us);
  }
}

TEST(Search, PlansEachWayToCutTheBatchOnOneMesh) {
  Monitor monitor;
  const auto found =
      answers::search_meshes(graph_bytes("block_1d8"), {},
                             {.devices = 4, .max_mesh_dims = 2, .each_batch = true}, monitor);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->size(), 2u + 4u);
}

TEST(Search, SaysWhyAMeshHasNoPlan) {
  Monitor monitor;
  CompileOptions options;
  options.input_layout = "S(0)S(0)";
  const auto found = answers::search_meshes(graph_bytes("block_1d8"), options,
                                            {.devices = 8, .max_mesh_dims = 2}, monitor);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_TRUE(found->front().status.ok());
  EXPECT_EQ(found->back().mesh, "d0=8");
  EXPECT_FALSE(found->back().status.ok());
  EXPECT_NE(answers::to_text(*found).find("no plan: layout 'S(0)S(0)'"), std::string::npos)
      << answers::to_text(*found);
  EXPECT_EQ(answers::search_meshes({}, {}, {.devices = 0}, monitor).status().code(),
            Code::kInvalidArgument);
}

TEST(Search, StopsWhenItIsCancelled) {
  const auto graph = graph_bytes("block_1d8");
  Monitor asked;
  asked.on_progress = [](const Progress& p) { return p.phase == "search"; };
  EXPECT_EQ(answers::search_meshes(graph, {}, {.devices = 64, .threads = 2}, asked).status().code(),
            Code::kCancelled);
  std::atomic<bool> raised = true;
  Monitor flag;
  flag.cancel = &raised;
  EXPECT_EQ(answers::search_meshes(graph, {}, {.devices = 64, .threads = 2}, flag).status().code(),
            Code::kCancelled);
}

}  // namespace
}  // namespace shw
