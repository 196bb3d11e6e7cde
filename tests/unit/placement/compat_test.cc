// Compares the whole problem of a graph under `compat` rules with the problem that the reference
// built: strategy sets, costs of nodes and edges, and the cost of the reference's own answer. The
// files are in tests/data/problems; SHW_PROBLEMS=DIR adds more.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "placement/solve_placement.h"
#include "reference_problem.h"

namespace shw {
namespace {

using testing::ReferenceProblem;

std::vector<std::string> files() {
  std::vector<std::string> list;
  const char* more = std::getenv("SHW_PROBLEMS");
  for (const char* dir : {SHW_TEST_DATA "/problems", more ? more : SHW_TEST_DATA "/problems"}) {
    for (const auto& f : std::filesystem::directory_iterator(dir)) {
      const std::string path = f.path().string();
      if (path.find(".problem.json.gz") != std::string::npos) list.push_back(path);
    }
    if (!more) break;
  }
  std::sort(list.begin(), list.end());
  return list;
}

// Removes absent operands, which the reference does not count.
std::string without_none(std::string s) {
  for (const char* gone : {", none", "none, "})
    for (size_t at; (at = s.find(gone)) < s.find(" -> ");) s.erase(at, 6);
  return s;
}

bool same(double got, double want) {
  return got == want || std::abs(got - want) <= 1e-9 * std::abs(want);
}

class Compat : public ::testing::TestWithParam<std::string> {};

TEST_P(Compat, ProblemIsTheReferences) {
  const ReferenceProblem want(GetParam());
  ASSERT_GT(want.num_nodes(), 0u);
  const Mesh mesh = *Mesh::parse(want.mesh);
  const auto hardware = cost::hardware_by_name("h100");
  const auto model = cost::CollectiveModel::create(*hardware, mesh);
  Monitor monitor;
  const auto strategies =
      Strategies::enumerate(want.graph, mesh, {.rules = Rules::kCompat}, monitor);
  ASSERT_TRUE(strategies.ok()) << strategies.status().message();
  const auto conditions = side_conditions(want.graph, mesh, *strategies, want.constraints);
  ASSERT_TRUE(conditions.ok()) << conditions.status().message();
  Pricer pricer(want.graph, *strategies, *model, cost::PriceRules::kCompat);
  solver::PlacementProblem problem;
  size_t entries = 0;
  for (uint32_t i = 0; i < want.num_nodes(); ++i) {
    const NodeId n{i};
    SCOPED_TRACE(want.graph.name(n) + " " + std::string(op_name(want.graph.op(n))));
    std::vector<std::string> got;
    for (uint32_t s = 0; s < strategies->of(n).count; ++s)
      got.push_back(without_none(strategy_text(*strategies, n, s, mesh.rank())));
    ASSERT_EQ(got, want.strategies(n));
    const auto compute = pricer.node_costs(n);
    ASSERT_TRUE(compute.ok()) << compute.status().message();
    for (size_t s = 0; s < compute->size(); ++s)
      ASSERT_TRUE(same((*compute)[s], want.compute(n)[s]))
          << s << ": " << (*compute)[s] << " want " << want.compute(n)[s];
    size_t slot = 0;
    for (size_t k = 0; k < want.graph.operands(n).size(); ++k) {
      if (!want.graph.operands(n)[k].valid()) continue;
      ASSERT_LT(slot, want.num_slots(n));
      const auto edge = want.edge(n, slot);
      EXPECT_EQ(conditions->no_comm[i], want.no_comm(n, slot));
      const uint32_t m = pricer.edge_matrix(n, k, conditions->no_comm[i], problem);
      const auto& shape = problem.matrices()[m];
      ASSERT_EQ(edge.size(), shape.cols);
      for (size_t o = 0; o < edge.size(); ++o)
        for (size_t j = 0; j < edge[o].size(); ++j, ++entries)
          ASSERT_TRUE(same(problem.costs(m)[j * shape.cols + o], edge[o][j]))
              << "slot " << slot << " own " << got[o] << " producer strategy " << j << ": "
              << problem.costs(m)[j * shape.cols + o] << " want " << edge[o][j];
      ++slot;
    }
    ASSERT_EQ(slot, want.num_slots(n));
  }
  const auto priced = price_choice(want.graph, *strategies, pricer, want.chosen);
  ASSERT_TRUE(priced.ok());
  // If a node uses one value twice, the reference leaves the second use untied. So the cost that it
  // states may be too high, but never too low.
  EXPECT_TRUE(same(priced->objective_us, want.objective))
      << priced->objective_us << " want " << want.objective;
  RecordProperty("entries", static_cast<int>(entries));
}

TEST_P(Compat, OptimumIsTheReferences) {
  const ReferenceProblem want(GetParam());
  const Mesh mesh = *Mesh::parse(want.mesh);
  const auto model = cost::CollectiveModel::create(*cost::hardware_by_name("h100"), mesh);
  Monitor monitor;
  const auto strategies =
      Strategies::enumerate(want.graph, mesh, {.rules = Rules::kCompat}, monitor);
  const auto conditions = side_conditions(want.graph, mesh, *strategies, want.constraints);
  Pricer pricer(want.graph, *strategies, *model, cost::PriceRules::kCompat);
  auto problem = priced_problem(want.graph, conditions->no_comm, pricer, monitor);
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  add_conditions(*conditions, *problem);
  const auto placed = solve_placement(want.graph, *strategies, *problem, pricer, {}, monitor);
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  EXPECT_TRUE(placed->proven);
  EXPECT_LE(placed->bound_us, placed->objective_us * (1 + 1e-12));
  EXPECT_TRUE(same(placed->objective_us, want.objective))
      << placed->objective_us << " want " << want.objective;
}

INSTANTIATE_TEST_SUITE_P(Problems, Compat, ::testing::ValuesIn(files()), [](const auto& test) {
  std::string name = std::filesystem::path(test.param).filename().string();
  name = name.substr(0, name.find(".problem"));
  std::replace(name.begin(), name.end(), '.', '_');
  return name + (test.param.rfind(SHW_TEST_DATA, 0) == 0 ? "" : "_extra");
});

}  // namespace
}  // namespace shw
