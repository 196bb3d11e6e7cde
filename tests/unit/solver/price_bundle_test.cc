// Projections onto the prices at which all labellings reach a given cost, and their effect on a
// bound.
#include "solver/price_bundle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "solver/problem.h"

namespace shw::solver {
namespace {

std::vector<double> random_vector(std::mt19937& random, size_t size, double least, double most) {
  std::uniform_real_distribution<double> any(least, most);
  std::vector<double> values;
  for (size_t i = 0; i < size; ++i) values.push_back(any(random));
  return values;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

struct Projected {
  bool found = false, none = false;
  std::vector<double> prices;
};

Projected project(PriceBundle& bundle, const std::vector<double>& centre, double level) {
  Monitor monitor;
  Watch watch(monitor, Deadline());
  Projected result;
  const auto found = bundle.project(centre, level, 1e-7, result.prices, watch);
  EXPECT_TRUE(found.ok());
  result.found = found.ok() && *found == Projection::kFound;
  result.none = found.ok() && *found == Projection::kNone;
  return result;
}

TEST(PriceBundle, GoesStraightToOneLabelling) {
  PriceBundle bundle;
  bundle.add(10, std::vector<double>{3, 4});
  const Projected got = project(bundle, {1, 1}, 42);  // 10 + 3 + 4 + 25 μ = 42
  ASSERT_TRUE(got.found);
  EXPECT_NEAR(got.prices[0], 4, 1e-7);
  EXPECT_NEAR(got.prices[1], 5, 1e-7);
  EXPECT_NEAR(bundle.least(got.prices), 42, 1e-7);
}

// Rows that no labelling overloads get no price and do not change another row's price.
TEST(PriceBundle, LeavesRowsThatNothingOverloads) {
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    PriceBundle few, many;
    for (int cut = 0; cut < 4; ++cut) {
      std::vector<double> overload = random_vector(random, 3, -1, 2);
      few.add(cut, overload);
      const std::vector<double> slack = random_vector(random, 5, -3, 0);
      overload.insert(overload.begin() + 1, slack.begin(), slack.end());
      many.add(cut, overload);
    }
    const Projected want = project(few, {0, 0.5, 0}, 6);
    const Projected got = project(many, {0, 0, 0, 0, 0, 0, 0.5, 0}, 6);
    ASSERT_EQ(got.found, want.found);
    if (!want.found) continue;
    EXPECT_EQ(got.prices,
              (std::vector<double>{want.prices[0], 0, 0, 0, 0, 0, want.prices[1], want.prices[2]}));
  }
}

TEST(PriceBundle, KeepsPricesFromFallingBelowZero) {
  PriceBundle bundle;
  bundle.add(0, std::vector<double>{1, -1});
  const Projected got = project(bundle, {0, 2}, 5);
  ASSERT_TRUE(got.found);
  EXPECT_NEAR(got.prices[0], 5, 1e-7);
  EXPECT_EQ(got.prices[1], 0);
}

TEST(PriceBundle, StaysWhereAllIsDear) {
  PriceBundle bundle;
  bundle.add(50, std::vector<double>{1, -1});
  const std::vector<double> centre{3, 2};
  const Projected got = project(bundle, centre, 51);
  EXPECT_TRUE(got.found);
  EXPECT_EQ(got.prices, centre);
}

TEST(PriceBundle, SaysWhenALevelIsOutOfReach) {
  PriceBundle bundle;
  bundle.add(10, std::vector<double>{1, 2});
  bundle.add(20, std::vector<double>{-1, -2});  // with the other: 15 at any price
  EXPECT_TRUE(project(bundle, {0, 0}, 14.9).found);
  EXPECT_FALSE(project(bundle, {0, 0}, 15.1).found);
}

TEST(PriceBundle, FindsTheNearestPrices) {
  std::mt19937 random(7);
  constexpr size_t kRows = 60, kLabellings = 15;
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    PriceBundle bundle;
    const std::vector<double> centre = random_vector(random, kRows, 0, 1);
    const std::vector<double> there = random_vector(random, kRows, 0, 2);
    std::vector<double> cost;
    std::vector<std::vector<double>> overload;
    for (size_t k = 0; k < kLabellings; ++k) {  // at `there` each costs 100 or a bit more
      overload.push_back(random_vector(random, kRows, -1, 1));
      cost.push_back(100 + static_cast<double>(k % 3) - dot(there, overload.back()));
      bundle.add(cost.back(), overload.back());
    }
    const Projected got = project(bundle, centre, 100);
    ASSERT_TRUE(got.found);
    EXPECT_LE(distance(got.prices, centre), distance(there, centre));
    for (size_t k = 0; k < kLabellings; ++k)
      EXPECT_GE(cost[k] + dot(got.prices, overload[k]), 100 - 1e-7);
    // No point on the way to another point at which all cost that much is nearer.
    double ahead = 0;
    for (size_t r = 0; r < kRows; ++r) {
      EXPECT_GE(got.prices[r], 0);
      ahead += (centre[r] - got.prices[r]) * (there[r] - got.prices[r]);
    }
    EXPECT_LE(ahead, 1e-6);
  }
}

// The situation in a deep model within a limit: thousands of rows, few of which have a price, and
// many labellings with small differences. Newton's system is singular then.
TEST(PriceBundle, TellsWhatIsInReachWhereFewRowsPay) {
  std::mt19937 random(11);
  constexpr size_t kRows = 3000, kLabellings = 20;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    std::vector<std::vector<double>> overload;  // two rows are full; few others, slightly
    for (size_t k = 0; k < kLabellings; ++k) {
      overload.push_back(random_vector(random, kRows, -2, -1));
      for (const size_t r : {100, 101}) overload[k][r] = random_vector(random, 1, -1, 1)[0];
      for (size_t r = 200; r < 210; ++r) overload[k][r] = random_vector(random, 1, -1, 0.01)[0];
    }
    // A mixture of all labellings overloads no row, so no prices make all of them more expensive
    // than the mixture.
    const std::vector<double> share = random_vector(random, kLabellings, 0.1, 1);
    double shares = 0;
    for (const double s : share) shares += s;
    for (const size_t r : {100, 101}) {
      double mean = 0;
      for (size_t k = 0; k < kLabellings; ++k) mean += share[k] / shares * overload[k][r];
      for (std::vector<double>& o : overload) o[r] -= mean;
    }
    std::vector<double> there(kRows, 0), centre(kRows, 0);
    there[100] = 3, there[101] = 5, centre[100] = 1, centre[101] = 1;
    PriceBundle bundle;
    for (const std::vector<double>& o : overload) bundle.add(1000 - dot(there, o), o);
    EXPECT_TRUE(project(bundle, centre, 999.9).found);
    EXPECT_TRUE(project(bundle, centre, 999.9999).found);
    EXPECT_TRUE(project(bundle, centre, 1000.0001).none);
    EXPECT_TRUE(project(bundle, centre, 1010).none);
  }
}

// Equal layers. Each has a weight that counts during the whole step, and activations that
// accumulate and are released again. The limit binds only at the activations' peak, and any number
// of weights may give way. The bound must be below the optimum by less than the cost of one weight.
TEST(PriceBundle, BringsTheBoundOfEqualLayersWithinOneOfThem) {
  constexpr uint32_t kLayers = 60;
  PlacementProblem p;
  const uint32_t budget = p.add_budget(700.5);
  const uint32_t end = 2 * kLayers;
  std::vector<double> same(9, 50);
  for (int i = 0; i < 3; ++i) same[static_cast<size_t>(4 * i)] = 0;
  const uint32_t matrix = p.add_matrix(3, 3, same);
  for (uint32_t i = 0; i < kLayers; ++i) {
    const uint32_t weight = p.add_variable(std::vector<double>{0, 10});
    p.add_usage(budget, weight, 0, end, std::vector<double>{9, 1});
    const uint32_t activation = p.add_variable(std::vector<double>{0, 25, 60});
    p.add_usage(budget, activation, i, end - i, std::vector<double>{7, 3, 1});
    if (i > 0) p.add_edge(activation - 2, activation, matrix);
  }
  SolveOptions options;
  options.max_branch_nodes = 0;
  Monitor monitor;
  const auto got = solve(p, options, monitor);
  ASSERT_TRUE(got.ok()) << got.status().message();
  // 960 − 700.5 = 259.5 must be saved, at a cost of 10 for 8 units: 33 weights.
  EXPECT_EQ(got->cost, 330);
  EXPECT_GT(got->bound, 259.5 * 10 / 8 - 0.1);
}

}  // namespace
}  // namespace shw::solver
