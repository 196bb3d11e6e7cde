// Under full rules shard orders are planned, and a change of layout is priced as it is lowered. So
// the program's communication costs no more than the plan assumed.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "compiler/pipeline.h"
#include "cost/hardware.h"
#include "cost/redistribute.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "lowering/lower.h"
#include "passes/pass.h"
#include "placement/pricing.h"
#include "plan/report.h"
#include "redistribution/redistributor.h"

namespace shw {
namespace {

// The planned communication, and that of its program before any part of it is split to run beside
// products, which costs more.
struct Communication {
  bool proven = false;
  double planned_us = 0, lowered_us = 0;
};
Result<Communication> communication(const std::string& name, const std::string& mesh) {
  SHW_ASSIGN_OR_RETURN(const auto json,
                       import::read_json_file(SHW_TEST_DATA "/graphs/" + name + ".json.gz"));
  SHW_ASSIGN_OR_RETURN(const Graph graph, import::import_fx_json(json));
  std::string rows = "S(0)R";
  rows.append(static_cast<size_t>(std::count(mesh.begin(), mesh.end(), ',')) - 1, 'R');
  Monitor monitor;
  SHW_ASSIGN_OR_RETURN(
      const Solved solved,
      solve_once(write_graph(graph), {.mesh = mesh, .input_layout = rows}, monitor));
  SHW_ASSIGN_OR_RETURN(Program program, lower(solved.model->graph(), *solved.placed.assignment,
                                              solved.model->redistributor(), {}, monitor));
  static constexpr const PassDef* kPasses[] = {&kCommonSubexpressions, &kDeadSteps};
  SHW_RETURN_IF_ERROR(run_passes(program, kPasses, {}, monitor).status());
  return Communication{.proven = solved.placed.proven,
                       .planned_us = solved.placed.total.comm_us,
                       .lowered_us = program_cost(program).collectives_us};
}

class PlannedOrders : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(PlannedOrders, AreThoseThatThePlanPaysFor) {
  const auto [graph, mesh] = GetParam();
  const auto us = communication(graph, mesh);
  ASSERT_TRUE(us.ok()) << us.status().message();
  EXPECT_TRUE(us->proven);
  EXPECT_LE(us->lowered_us, us->planned_us * (1 + 1e-9));
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, PlannedOrders,
    ::testing::Values(std::pair("block_1d8.graph.pre", "dp=8,tp=8"),
                      std::pair("block_1d8.graph.pre", "dp=2,tp=4"),
                      std::pair("block_1d8.graph.pre", "dp=2,tp=2"),
                      std::pair("llama_tiny_2x4.graph.pre", "dp=2,tp=4"),
                      std::pair("llama8b_L2_8x8_einsum.graph.pre", "dp=8,tp=8"),
                      std::pair("block_1d8.graph.pre", "dp=4,cp=4,tp=4"),
                      std::pair("block_1d8.graph.pre", "dp=2,cp=2,ep=2,tp=2"),
                      std::pair("llama_tiny_2x4.graph.pre", "dp=2,cp=2,tp=2")));

// Every way to shard a matrix on two mesh dims, in both orders, converted into every other way.
TEST(RoutePrices, AreNeverBelowWhatTheMovesCost) {
  const auto graph = parse_graph(
      "input input.0: %x : f32[4096,4096]\n%y = relu(%x) : f32[4096,4096]\nreturn output.0 = %y\n");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Mesh mesh = *Mesh::parse("dp=8,tp=8");
  const auto model = cost::CollectiveModel::create(*cost::hardware_by_name("h100"), mesh);
  const MovePrices moves = move_prices(*model);
  Redistributor redistributor(mesh, moves);
  Monitor monitor;
  const auto strategies = Strategies::enumerate(*graph, mesh, {}, monitor);
  Pricer by_mesh_dim(*graph, *strategies, *model, cost::PriceRules::kFull),
      by_route(*graph, *strategies, *model, cost::PriceRules::kFull, &redistributor);
  std::vector<Layout> layouts;
  for (const char* a : {"R", "S(0)", "S(1)", "P"})
    for (const char* b : {"R", "S(0)", "S(1)", "P"})
      layouts.push_back(*parse_layout(std::string(a) + b, 2));
  for (const char* text : {"S(0)S(0)|1,0", "S(1)S(1)|1,0"})
    layouts.push_back(*parse_layout(text, 2));
  const NodeId relu{1};
  int below = 0, priced = 0;
  for (const Layout& from : layouts)
    for (const Layout& to : layouts) {
      SCOPED_TRACE(to_string(from, 2) + " to " + to_string(to, 2));
      const double us = by_route.redistribution_us(relu, 0, from, to);
      if (us == std::numeric_limits<double>::infinity()) {
        EXPECT_TRUE(to.has_partial());
        continue;
      }
      const double needed = redistributor.price({4096, 4096}, 4, from, to);
      EXPECT_GE(us, needed * (1 - 1e-12));
      below += by_mesh_dim.redistribution_us(relu, 0, from, to) < needed * (1 - 1e-12);
      ++priced;
    }
  EXPECT_GT(priced, 200);
  EXPECT_GT(below, 20) << "mesh dim by mesh dim, a blocked change looks cheaper than it is";
}

// All layouts of a tensor on a mesh with three dims, in all shard orders. The table of all pairs
// must agree with the route of each single pair, and no detour may be shorter. On the second mesh
// two dims are interchangeable, on the third all are. The table exploits this; the single routes do
// not.
class AllPairs : public ::testing::TestWithParam<std::pair<const char*, size_t>> {};
INSTANTIATE_TEST_SUITE_P(RoutePrices, AllPairs,
                         ::testing::Values(std::pair("dp=4,cp=2,tp=8", 0),
                                           std::pair("dp=16,cp=2,tp=2", 1),
                                           std::pair("dp=2,cp=2,tp=2", 5)),
                         [](const auto& p) {
                           std::string name = p.param.first;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '=' || c == ','; }, '_');
                           return name;
                         });

TEST_P(AllPairs, CostWhatTheShortestRoutesDo) {
  const Mesh mesh = *Mesh::parse(GetParam().first);
  const auto model = cost::CollectiveModel::create(*cost::hardware_by_name("h100"), mesh);
  const MovePrices moves = move_prices(*model);
  EXPECT_EQ(moves.symmetries.size(), GetParam().second);
  Redistributor redistributor(mesh, moves, /*threads=*/2);
  const Dims shape{4096, 2048};
  std::vector<Layout> layouts;
  const Placement places[] = {Placement::replicate(), Placement::shard(0), Placement::shard(1),
                              Placement::partial()};
  for (const Placement a : places)
    for (const Placement b : places)
      for (const Placement c : places) {
        Layout l;
        l[0] = a, l[1] = b, l[2] = c;
        do
          if (std::find(layouts.begin(), layouts.end(), normalised(l)) == layouts.end())
            layouts.push_back(normalised(l));
        while (std::next_permutation(l.order.begin(), l.order.begin() + 3));
      }
  const size_t n = layouts.size();
  EXPECT_EQ(n, 92u);
  std::vector<double> us(n * n);
  redistributor.prices(shape, 4, layouts, layouts, us);
  size_t reachable = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      const double one = redistributor.price(shape, 4, layouts[i], layouts[j]);
      if (us[i * n + j] < std::numeric_limits<double>::infinity()) {
        ASSERT_NEAR(us[i * n + j], one, 1e-7)
            << to_string(layouts[i], 3) << " to " << to_string(layouts[j], 3);
        ++reachable;
      } else {
        ASSERT_EQ(one, us[i * n + j]);
      }
      for (size_t k = 0; k < n; ++k) ASSERT_LE(us[i * n + j], us[i * n + k] + us[k * n + j] + 1e-7);
    }
  EXPECT_GT(reachable, n * n / 3);
}

// Eight copies exist along the fast mesh dim. Each of them gathers one eighth over the slow mesh
// dim.
TEST(Routes, GatherOverSlowLinksInSlices) {
  const Mesh mesh = *Mesh::parse("dp=8,tp=8");
  const auto model = cost::CollectiveModel::create(*cost::hardware_by_name("h100"), mesh);
  const MovePrices moves = move_prices(*model);
  Redistributor redistributor(mesh, moves);
  const auto route =
      redistributor.route({8192, 8192}, 4, *parse_layout("S(0)R", 2), *parse_layout("RR", 2));
  ASSERT_TRUE(route.ok());
  ASSERT_EQ((*route)->moves.size(), 2u);
  EXPECT_TRUE((*route)->moves[0].kind == CollectiveKind::kNone) << "a slice";
  EXPECT_TRUE((*route)->moves[1].kind == CollectiveKind::kAllGather);
  EXPECT_EQ((*route)->moves[1].axes.size(), 2u);
}

}  // namespace
}  // namespace shw
