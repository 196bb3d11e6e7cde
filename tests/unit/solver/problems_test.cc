// Problems exported from another planner, with the optimum that it proved
// (tests/data/problems/README.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "import/problem_json.h"
#include "solver/problem.h"

namespace shw::solver {
namespace {

struct Known {
  const char* name;
  double objective;
};
constexpr Known kKnown[] = {
    {"ffn_1d8", 556.7346597432672},           {"block_1d8", 24600.895816622797},
    {"block_2d2x8", 6219.180943572},          {"block_2d8x8", 12587.024926996},
    {"llama_tiny_2x4", 1795.6955310731607},   {"llama8b_L2_8x8_einsum", 52957.78372133408},
    {"block_2d8x8_mem0.05", 12456.551095894}, {"llama8b_L2_8x8_einsum_mem0.05", 52749.00787579048},
};

class RealProblems : public ::testing::TestWithParam<Known> {
 protected:
  static std::string path() {
    return std::string(SHW_TEST_DATA) + "/problems/" + GetParam().name + ".problem.json.gz";
  }
};

TEST_P(RealProblems, HaveTheKnownOptimum) {
  const auto imported = import::read_problem(path(), /*tied=*/false);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  Monitor monitor;
  const auto got = solve(imported->problem, {}, monitor);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_NEAR(got->cost, GetParam().objective, 1e-9 * GetParam().objective);
  EXPECT_EQ(got->cost, evaluate(imported->problem, got->choice));
  EXPECT_TRUE(got->proven);
  EXPECT_LE(got->bound, got->cost);
  EXPECT_GE(got->bound, got->cost * (1 - 1e-9));
}

// Survey, small core, proof: the method for wide problems, here for problems of any width.
TEST_P(RealProblems, HaveTheKnownOptimumWhenTakenForWide) {
  const auto imported = import::read_problem(path(), /*tied=*/false);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  Monitor monitor;
  const auto got = solve(imported->problem, {.wide_cells = 0}, monitor);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_NEAR(got->cost, GetParam().objective, 1e-9 * GetParam().objective);
  EXPECT_TRUE(got->proven);
}

// One strategy for a region costs at least as much as a free choice for each of its nodes.
TEST_P(RealProblems, CostNoLessWhenTied) {
  const auto imported = import::read_problem(path(), /*tied=*/true);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  Monitor monitor;
  const auto got = solve(imported->problem, {}, monitor);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_TRUE(got->proven);
  EXPECT_GE(got->cost, GetParam().objective * (1 - 1e-9));
}

INSTANTIATE_TEST_SUITE_P(Exported, RealProblems, ::testing::ValuesIn(kKnown), [](const auto& test) {
  std::string name = test.param.name;
  std::ranges::replace(name, '.', '_');
  return name;
});

}  // namespace
}  // namespace shw::solver
