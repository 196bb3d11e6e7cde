// Under full rules on two mesh dims, shard orders are planned, and what needs several moves is
// priced by them: the program costs no more communication than the plan assumed.
#include <gtest/gtest.h>

#include <limits>

#include "compiler/pipeline.h"
#include "cost/hardware.h"
#include "cost/redistribute.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "lowering/redistribute.h"
#include "placement/pricing.h"
#include "plan/report.h"

namespace shw {
namespace {

Plan planned(const std::string& name, const std::string& mesh) {
  const auto json = import::read_json_file(SHW_TEST_DATA "/graphs/" + name + ".json.gz");
  EXPECT_TRUE(json.ok()) << json.status().message();
  const auto graph = import::import_fx_json(*json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  Monitor monitor;
  auto compiled = compile(write_graph(*graph), {.mesh = mesh, .input_layout = "S(0)R"}, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return compiled.ok() ? std::move(compiled->plan) : Plan{};
}

class PlannedOrders : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(PlannedOrders, AreThoseThatThePlanPaysFor) {
  const auto [graph, mesh] = GetParam();
  const Plan plan = planned(graph, mesh);
  EXPECT_TRUE(plan.summary.proven);
  EXPECT_LE(program_cost(plan.program).collectives_us, plan.summary.comm_us * (1 + 1e-9));
}

INSTANTIATE_TEST_SUITE_P(Graphs, PlannedOrders,
                         ::testing::Values(std::pair("block_1d8.graph.pre", "dp=8,tp=8"),
                                           std::pair("block_1d8.graph.pre", "dp=2,tp=4"),
                                           std::pair("block_1d8.graph.pre", "dp=2,tp=2"),
                                           std::pair("llama_tiny_2x4.graph.pre", "dp=2,tp=4"),
                                           std::pair("llama8b_L2_8x8_einsum.graph.pre",
                                                     "dp=8,tp=8")));

// Every way to cut a matrix on two mesh dims, both orders included, into every other.
TEST(RoutePrices, AreNeverBelowWhatTheMovesCost) {
  const auto graph = parse_graph(
      "input input.0: %x : f32[4096,4096]\n%y = relu(%x) : f32[4096,4096]\nreturn output.0 = %y\n");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Mesh mesh = *Mesh::parse("dp=8,tp=8");
  const auto model = cost::CollectiveModel::create(*cost::hardware_by_name("h100"), mesh);
  const MovePrices moves = move_prices(*model);
  Redistributor redistributor(mesh, moves);
  const RoutePrices route = [&](const Dims& shape, int64_t bytes, std::span<const Layout> from,
                                std::span<const Layout> to, std::span<double> out) {
    redistributor.route_prices(shape, bytes, from, to, out);
  };
  Monitor monitor;
  const auto strategies = Strategies::enumerate(*graph, mesh, {}, monitor);
  Pricer by_mesh_dim(*graph, *strategies, *model, cost::PriceRules::kFull),
      by_route(*graph, *strategies, *model, cost::PriceRules::kFull, route);
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
      const double needed = redistributor.route_us({4096, 4096}, 4, from, to);
      EXPECT_GE(us, needed * (1 - 1e-12));
      below += by_mesh_dim.redistribution_us(relu, 0, from, to) < needed * (1 - 1e-12);
      ++priced;
    }
  EXPECT_GT(priced, 200);
  EXPECT_GT(below, 20) << "mesh dim by mesh dim, a blocked change looks cheaper than it is";
}

}  // namespace
}  // namespace shw
