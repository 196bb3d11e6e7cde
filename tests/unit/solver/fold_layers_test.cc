// Folded problems: the layers that stay equal those that are left out, and the folded solution is a
// start for the whole problem.
#include "solver/fold_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "random_problems.h"
#include "solver/trws.h"

namespace shw::solver {
namespace {

using testing::random_problem;

// Layers with one variable of the forward pass and one of the backward pass, which meet in the last
// layer. Every layer reads the variable in front of them. The first layer reads the variable behind
// them.
class DeepProblem {
 public:
  DeepProblem(uint32_t layers, uint32_t labels, uint32_t seed) : random_(seed) {
    const std::vector<double> forward = costs(labels), backward = costs(labels);
    const uint32_t common = problem.add_variable(costs(3));
    for (uint32_t i = 0; i < layers; ++i) problem.add_variable(forward);
    for (uint32_t i = 0; i < layers; ++i) problem.add_variable(backward);
    const uint32_t behind = problem.add_variable(costs(2));
    const auto f = [](uint32_t i) { return 1 + i; };
    const auto b = [&](uint32_t i) { return 2 * layers - i; };
    const uint32_t on = matrix(labels, labels), across = matrix(labels, labels),
                   back = matrix(labels, labels), read = matrix(3, labels);
    for (uint32_t i = 0; i < layers; ++i) {
      if (i + 1 < layers) problem.add_edge(f(i), f(i + 1), on);
      problem.add_edge(b(i), f(i), across, true);
      if (i + 1 < layers) problem.add_edge(b(i + 1), b(i), back);
      problem.add_edge(common, f(i), read);
    }
    problem.add_edge(behind, b(0), matrix(2, labels));
  }

  PlacementProblem problem;

 private:
  std::vector<double> costs(size_t n) {
    std::vector<double> list(n);
    for (double& c : list) c = random_() % 1000;
    return list;
  }
  // The costs are distances up to a limit, so that sweeps nearly close the gap.
  uint32_t matrix(uint32_t rows, uint32_t cols) {
    const uint32_t weight = 100 + random_() % 300;
    std::vector<double> distance;
    for (uint32_t i = 0; i < rows; ++i)
      for (uint32_t j = 0; j < cols; ++j)
        distance.push_back(weight * std::min(4.0, std::abs(static_cast<double>(i) - j)));
    return problem.add_matrix(rows, cols, distance);
  }
  std::mt19937 random_;
};

TEST(FoldLayers, KeepsAFewOfEqualLayers) {
  for (const uint32_t margin : {1u, 2u, 3u}) {
    const PlacementProblem whole = std::move(DeepProblem(32, 7, margin).problem);
    const auto folding = fold_layers(whole, margin);
    ASSERT_TRUE(folding);
    const PlacementProblem& few = folding->problem;
    ASSERT_TRUE(few.validate().ok());
    EXPECT_LT(few.num_variables(), 2 * (2 * margin + 4) + 3);
    ASSERT_EQ(folding->variable.size(), whole.num_variables());
    for (uint32_t v = 0; v < whole.num_variables(); ++v)
      EXPECT_TRUE(std::ranges::equal(whole.unary(v), few.unary(folding->variable[v])));
    ASSERT_EQ(folding->edge.size(), whole.edges().size());
    for (size_t i = 0; i < whole.edges().size(); ++i) {
      const auto &x = whole.edges()[i], &y = few.edges()[folding->edge[i]];
      EXPECT_EQ(x.matrix, y.matrix);
      EXPECT_EQ(x.transposed, y.transposed);
      EXPECT_EQ(x.a < x.b, y.a < y.b);
      EXPECT_TRUE(std::ranges::equal(whole.unary(x.a), few.unary(y.a)));
      EXPECT_TRUE(std::ranges::equal(whole.unary(x.b), few.unary(y.b)));
    }
  }
}

TEST(FoldLayers, LeavesOtherProblemsAlone) {
  EXPECT_FALSE(fold_layers(DeepProblem(5, 7, 1).problem, 1));  // few layers
  PlacementProblem odd = std::move(DeepProblem(32, 7, 1).problem);
  for (uint32_t v = 0; v < odd.num_variables(); ++v)  // equal edges between variables that differ
    odd.add_unary(v, std::vector<double>(odd.num_labels(v), v));
  EXPECT_FALSE(fold_layers(odd, 1));
  for (uint32_t seed = 0; seed < 200; ++seed)
    EXPECT_FALSE(fold_layers(random_problem(seed, {.min_variables = 30, .max_variables = 60}), 1));
}

// One sweep from the messages of a few layers reaches a bound that otherwise takes several sweeps.
TEST(FoldLayers, MessagesFitTheWhole) {
  int gains = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem whole = std::move(DeepProblem(40, 9, seed).problem);
    const auto folding = fold_layers(whole, 2);
    ASSERT_TRUE(folding);
    Monitor monitor;
    Watch watch(monitor, Deadline());
    Trws few(folding->problem, watch), cold(whole, watch), warm(whole, watch);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(few.sweep().ok());
    warm.take_messages(few, folding->edge);
    ASSERT_TRUE(warm.sweep().ok());
    ASSERT_TRUE(cold.sweep().ok());
    gains += warm.bound() > cold.bound();
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(cold.sweep().ok());
    EXPECT_GE(warm.bound(), 0.999 * cold.bound());
    const auto best = solve(whole, {}, monitor);
    ASSERT_TRUE(best.ok());
    EXPECT_LE(warm.bound(), best->cost * (1 + 1e-12));
  }
  EXPECT_GT(gains, 3);
}

// Layers with tiny differences cannot be folded.
TEST(FoldLayers, DeepRootsTakeLessWork) {
  const PlacementProblem equal = std::move(DeepProblem(48, 100, 3).problem);
  PlacementProblem different = equal.share();
  for (uint32_t v = 0; v < different.num_variables(); ++v)
    different.add_unary(v, std::vector<double>(different.num_labels(v), 1e-9 * v));
  Monitor monitor;
  const auto folded = solve(equal, {}, monitor), whole = solve(different, {}, monitor);
  ASSERT_TRUE(folded.ok() && whole.ok());
  EXPECT_TRUE(folded->proven);
  EXPECT_TRUE(whole->proven);
  EXPECT_NEAR(folded->cost, whole->cost, 1e-4);
  EXPECT_LT(4 * folded->stats.cells, whole->stats.cells);
}

}  // namespace
}  // namespace shw::solver
