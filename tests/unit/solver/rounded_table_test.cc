#include "solver/rounded_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "solver/problem.h"
#include "solver/trws.h"
#include "unit/solver/random_problems.h"

namespace shw::solver {
namespace {

struct Aligned {
  explicit Aligned(size_t count)
      : cells(static_cast<int16_t*>(::operator new[](2 * count, std::align_val_t{64}))) {}
  ~Aligned() { ::operator delete[](cells, std::align_val_t{64}); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  int16_t* cells;
};

TEST(RoundedTable, ProductsAreAtMostTwoUnitsBelowTheExactOnes) {
  std::mt19937 random(7);
  for (const auto& [rows, cols] : {std::pair(1u, 1u), {7u, 31u}, {32u, 32u}, {45u, 130u}}) {
    std::vector<double> costs(size_t{rows} * cols), w(rows), out(cols);
    for (double& c : costs) c = 1e-3 * static_cast<double>(random() % 1'000'000) - 50;
    for (double& x : w) x = 1e-2 * static_cast<double>(random() % 100'000) - 300;
    Aligned cells(rows * rounded_stride(cols));
    Aligned scratch(rounded_stride(rows) + rounded_stride(cols));
    const RoundedTable table = round_down(costs.data(), rows, cols, cols, cells.cells);
    min_plus_rounded(w.data(), rows, table, scratch.cells, cols, out.data());
    for (uint32_t j = 0; j < cols; ++j) {
      double exact = kForbidden;
      for (uint32_t i = 0; i < rows; ++i) exact = std::min(exact, w[i] + costs[i * cols + j]);
      EXPECT_LE(out[j], exact + 1e-9);
      EXPECT_GE(out[j], exact - 2 * table.unit);
    }
    std::vector<double> across(cols), out_rows(rows);
    for (double& x : across) x = 1e-2 * static_cast<double>(random() % 100'000) - 300;
    min_plus_rounded_rows(across.data(), cols, table, scratch.cells, rows, out_rows.data());
    for (uint32_t i = 0; i < rows; ++i) {
      double exact = kForbidden;
      for (uint32_t j = 0; j < cols; ++j) exact = std::min(exact, across[j] + costs[i * cols + j]);
      EXPECT_LE(out_rows[i], exact + 1e-9);
      EXPECT_GE(out_rows[i], exact - 2 * table.unit);
    }
  }
}

TEST(RoundedTable, HasAFiniteCostForForbiddenPairs) {
  const std::vector<double> costs{kForbidden, 4, 8, kForbidden}, w{1, 2};
  Aligned cells(2 * rounded_stride(2)), scratch(2 * rounded_stride(2));
  std::vector<double> out(2);
  const RoundedTable table = round_down(costs.data(), 2, 2, 2, cells.cells);
  min_plus_rounded(w.data(), 2, table, scratch.cells, 2, out.data());
  EXPECT_NEAR(out[0], 10, 1e-2);
  EXPECT_NEAR(out[1], 5, 1e-2);
}

TEST(RoundedTable, OfEqualCostsIsExact) {
  const std::vector<double> costs(4, 3.5), w{1, 2};
  Aligned cells(2 * rounded_stride(2)), scratch(2 * rounded_stride(2));
  std::vector<double> out(2);
  const RoundedTable table = round_down(costs.data(), 2, 2, 2, cells.cells);
  min_plus_rounded(w.data(), 2, table, scratch.cells, 2, out.data());
  EXPECT_EQ(out, std::vector<double>(2, 4.5));
}

// Three variables with 40 labels each. Every pair of variables has a table with some forbidden
// pairs.
PlacementProblem triangle(uint32_t seed) {
  std::mt19937 random(seed);
  PlacementProblem problem;
  std::vector<double> costs(40);
  for (int v = 0; v < 3; ++v) {
    for (double& c : costs) c = static_cast<double>(random() % 1000);
    problem.add_variable(costs);
  }
  costs.resize(size_t{40} * 40);
  for (uint32_t a = 0; a < 2; ++a)
    for (uint32_t b = a + 1; b < 3; ++b) {
      for (double& c : costs)
        c = random() % 20 == 0 ? kForbidden : static_cast<double>(random() % 3000);
      problem.add_edge(a, b, problem.add_matrix(40, 40, costs), false);
    }
  return problem;
}

TEST(RoundedTable, SweepsBoundEveryLabellingAndALaterSweepEveryLabel) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const PlacementProblem problem = triangle(seed);
    std::vector<double> with(120, kForbidden);  // by label: cost of the cheapest labelling with it
    double optimum = kForbidden;
    for (uint32_t a = 0; a < 40; ++a)
      for (uint32_t b = 0; b < 40; ++b)
        for (uint32_t c = 0; c < 40; ++c) {
          const double cost = evaluate(problem, std::vector<uint32_t>{a, b, c});
          for (const uint32_t label : {a, 40 + b, 80 + c})
            with[label] = std::min(with[label], cost);
          optimum = std::min(optimum, cost);
        }
    Monitor monitor;
    Watch watch(monitor, Deadline());
    Trws trws(problem, watch);
    for (int round = 0; round < 4; ++round) {
      for (int sweep = 0; sweep < 3; ++sweep) {
        ASSERT_TRUE(trws.sweep_rounded().ok());
        EXPECT_LE(trws.bound(), optimum);
        EXPECT_GE(trws.cost(), optimum);
      }
      const double rounded = trws.bound();
      ASSERT_TRUE(trws.sweep().ok());
      EXPECT_GE(trws.bound(), rounded);
      for (uint32_t v = 0; v < 3; ++v)
        for (uint32_t i = 0; i < 40; ++i)
          EXPECT_LE(trws.marginal_bound() + trws.marginals(v)[i], with[40 * v + i] + 1e-9);
    }
  }
}

}  // namespace
}  // namespace shw::solver
