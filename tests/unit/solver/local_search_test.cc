// Local search and recombination within budgets. They never make a labelling worse, never exceed a
// budget, and find improvements that single moves do not find.
#include "solver/local_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "solver/decode.h"
#include "solver/recombine.h"
#include "unit/solver/brute_force.h"
#include "unit/solver/random_problems.h"

namespace shw::solver {
namespace {

using testing::add_random_budgets;
using testing::random_problem;

// A problem without parallel edges or loops, as presolve leaves it.
struct Case {
  PlacementProblem problem;
  BudgetRows rows;
};

Result<Case> presolved_case(uint32_t seed) {
  PlacementProblem root = random_problem(seed, {.min_variables = 6,
                                                .max_variables = 9,
                                                .max_labels = 4,
                                                .edges_per_variable = 1.5,
                                                .forbidden = 0.05});
  add_random_budgets(root, seed + 1, 1 + seed % 3, 5);
  Monitor monitor;
  Watch watch(monitor, Deadline());
  const std::vector<uint8_t> all_budgeted(root.num_variables(), 1);
  SHW_ASSIGN_OR_RETURN(Presolved small, presolve(root, {}, {.budgeted = all_budgeted}, watch));
  Case made{std::move(small.problem), {}};
  made.rows = BudgetRows(root).restricted(root, {}, made.problem, small.undo);
  return made;
}

bool is_within(const BudgetRows& rows, std::span<const uint32_t> choice) {
  std::vector<double> overload(rows.size());
  rows.overload(choice, overload);
  return std::ranges::all_of(overload, [](double x) { return x <= 1e-9; });
}

// Every labelling with a finite cost within the rows, cheapest first.
std::vector<std::pair<double, std::vector<uint32_t>>> all_within(const Case& c) {
  std::vector<std::pair<double, std::vector<uint32_t>>> found;
  std::vector<uint32_t> choice(c.problem.num_variables(), 0);
  for (bool more = true; more;) {
    const double cost = evaluate(c.problem, choice);
    if (cost < kForbidden && is_within(c.rows, choice)) found.emplace_back(cost, choice);
    more = false;
    for (uint32_t v = c.problem.num_variables(); v-- > 0 && !more;) {
      more = ++choice[v] < c.problem.num_labels(v);
      if (!more) choice[v] = 0;
    }
  }
  std::ranges::sort(found);
  return found;
}

TEST(LocalSearch, ComesFromTheWorstLabellingToTheBest) {
  int cases = 0, best = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const auto made = presolved_case(seed);
    if (!made.ok() || made->rows.broken()) continue;
    const auto all = all_within(*made);
    if (all.empty()) continue;
    Monitor monitor;
    Watch watch(monitor, Deadline());
    LocalSearch search(made->problem, made->rows);
    search.start(all.back().second);
    search.set_prices(std::vector<double>(made->rows.size(), 1));
    ASSERT_TRUE(search.improve(2'000'000, 0.5, watch).ok());
    EXPECT_TRUE(is_within(made->rows, search.best()));
    EXPECT_TRUE(is_within(made->rows, search.current()));
    const double cost = evaluate(made->problem, search.best());
    EXPECT_LE(cost, all.back().first);
    ++cases;
    best += cost <= all.front().first;
  }
  EXPECT_GT(cases, 60);
  EXPECT_GT(best, cases * 9 / 10);
}

// One variable can use what another gives up.
TEST(LocalSearch, ExchangesUsageBetweenVariables) {
  PlacementProblem p;
  const uint32_t budget = p.add_budget(1);
  for (const double loss : {1.0, 5.0}) {
    const uint32_t v = p.add_variable(std::vector<double>{loss, 0});
    p.add_usage(budget, v, 0, 1, std::vector<double>{0, 1});
  }
  const BudgetRows rows(p);
  Monitor monitor;
  Watch watch(monitor, Deadline());
  LocalSearch search(p, rows);
  search.start(std::vector<uint32_t>{1, 0});  // costs 5; no single move helps
  search.set_prices(std::vector<double>{2});
  ASSERT_TRUE(search.improve(100'000, 0, watch).ok());
  EXPECT_EQ(std::vector<uint32_t>(search.best().begin(), search.best().end()),
            (std::vector<uint32_t>{0, 1}));
}

// Takes the cheapest labels of every variable, however much more one variable's labels cost than
// another's.
TEST(Recombine, TakesTheCheapestLabelsOfEveryVariableFirst) {
  PlacementProblem p;
  for (const uint32_t labels : {3, 3, 2, 2}) p.add_variable(std::vector<double>(labels, 0));
  const std::vector<double> marginals{0,           1e9,        2e9,  //
                                      2,           0,          1,    //
                                      0,           kForbidden,       //
                                      -kForbidden, -kForbidden};
  using Flags = std::vector<uint8_t>;
  const auto likely = [&](double share, LikelyBy by) {
    return likely_labels(p, marginals, share, by);
  };
  EXPECT_EQ(likely(0, LikelyBy::kRank), (Flags{0, 0, 0, 0, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(likely(0.5, LikelyBy::kRank), (Flags{1, 0, 0, 0, 1, 0, 1, 0, 1, 1}));
  EXPECT_EQ(likely(0.7, LikelyBy::kRank), (Flags{1, 0, 0, 0, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(likely(0.9, LikelyBy::kRank), (Flags{1, 1, 0, 0, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(likely(0.9, LikelyBy::kMarginal), (Flags{1, 0, 0, 1, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(likely(1, LikelyBy::kRank), (Flags{1, 1, 0, 1, 1, 1, 1, 0, 1, 1}));
}

// These labels are found without sorting all labels of a variable.
TEST(Recombine, TakesThoseThatSortingAllLabelsGives) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    PlacementProblem p;
    std::vector<double> marginals;
    for (uint32_t v = 0; v < 1 + random() % 6; ++v) {
      const uint32_t labels = 1 + random() % 9;
      p.add_variable(std::vector<double>(labels, 0));
      const bool is_free = random() % 5 == 0;
      for (uint32_t i = 0; i < labels; ++i)
        marginals.push_back(is_free             ? -kForbidden
                            : random() % 7 == 0 ? kForbidden
                                                : static_cast<double>(random() % 6));
    }
    std::vector<std::pair<int64_t, double>> ranks, known;
    for (uint32_t v = 0; v < p.num_variables(); ++v)
      for (uint32_t i = 0; i < p.num_labels(v); ++i) {
        const auto own = std::span(marginals).subspan(p.first_label(v), p.num_labels(v));
        ranks.push_back({std::ranges::count_if(own, [&](double m) { return m < own[i]; }), own[i]});
        if (std::abs(own[i]) != kForbidden) known.push_back(ranks.back());
      }
    std::ranges::sort(known);
    for (const double share : {0.0, 0.05, 0.3, 0.7, 1.0}) {
      const size_t last = known.empty() ? 0 : known.size() - 1;
      const auto nth = static_cast<size_t>(share * static_cast<double>(last));
      std::vector<uint8_t> want;
      for (const auto& rank : ranks)
        want.push_back(rank.second == -kForbidden ||
                       (!known.empty() && rank < known[nth] && rank.second != kForbidden));
      EXPECT_EQ(likely_labels(p, marginals, share, LikelyBy::kRank), want);
    }
  }
}

TEST(Recombine, SolvesAmongTheAllowedLabels) {
  int cases = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const auto made = presolved_case(seed);
    if (!made.ok() || made->rows.broken()) continue;
    const auto all = all_within(*made);
    if (all.empty()) continue;
    const uint64_t labels = made->problem.first_label(made->problem.num_variables());
    const auto& start = all.back().second;
    for (const int allowed : {0, 1, 2}) {  // no labels, every second, all
      std::vector<uint8_t> flags(labels, 0);
      for (uint64_t i = 0; i < labels; ++i) flags[i] = allowed == 2 || (allowed == 1 && i % 2 == 0);
      double want = all.back().first;
      for (const auto& [cost, choice] : all) {
        bool among = true;
        for (uint32_t v = 0; v < choice.size(); ++v)
          among = among &&
                  (choice[v] == start[v] || flags[made->problem.first_label(v) + choice[v]] != 0);
        if (among) want = std::min(want, cost);
      }
      Monitor monitor;
      Watch watch(monitor, Deadline());
      const auto got = recombine(made->problem, made->rows, flags, start, {1e-6, 30}, watch);
      ASSERT_TRUE(got.ok()) << got.status().message();
      EXPECT_TRUE(is_within(made->rows, got->choice));
      if (got->closed) {
        EXPECT_NEAR(evaluate(made->problem, got->choice), want, 1e-5 * (1 + want));
      }
      cases += got->closed;
    }
  }
  EXPECT_GT(cases, 150);
}

TEST(Recombine, EndsWithItsStartAtTheLimitOfItsWork) {
  int cut_short = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const auto made = presolved_case(seed);
    if (!made.ok() || made->rows.broken()) continue;
    const auto labellings = all_within(*made);
    if (labellings.empty()) continue;
    const std::vector<uint32_t>& start = labellings.back().second;
    const std::vector<uint8_t> all(made->problem.first_label(made->problem.num_variables()), 1);
    Monitor monitor;
    Watch watch(monitor, Deadline());
    {
      const Watch::WorkLimit limit(watch, 0);
      EXPECT_TRUE(watch.expired());
      const auto got = recombine(made->problem, made->rows, all, start, {1e-6, 30}, watch);
      ASSERT_TRUE(got.ok()) << got.status().message();
      EXPECT_TRUE(is_within(made->rows, got->choice));
      EXPECT_LE(evaluate(made->problem, got->choice), evaluate(made->problem, start));
      cut_short += !got->closed;
    }
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_GT(cut_short, 20);
}

// Taking the cheapest labels first exceeds the budget or meets forbidden pairs before the last
// variable.
TEST(Decode, KeepsWhatTheOthersNeedWithinTheBudget) {
  constexpr uint32_t kVariables = 8;
  PlacementProblem p;
  const uint32_t budget = p.add_budget(10);
  const double equal[] = {0, kForbidden, kForbidden, 0};
  const uint32_t agree = p.add_matrix(2, 2, equal);
  for (uint32_t v = 0; v < kVariables; ++v) {
    p.add_variable(std::vector<double>{0, 10});
    p.add_usage(budget, v, 0, 1, std::vector<double>{2, 1});
    if (v % 2 == 1) p.add_edge(v - 1, v, agree);  // pairs use 4 or 2
  }
  const BudgetRows rows(p);
  Monitor monitor;
  Watch watch(monitor, Deadline());
  Trws trws(p, watch);
  ASSERT_TRUE(trws.sweep().ok());
  const auto without = decode_with_propagation(p, trws);
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE(is_within(rows, *without));
  const auto within = decode_with_propagation(p, trws, &rows);
  ASSERT_TRUE(within.ok());
  ASSERT_EQ(within->size(), kVariables);
  EXPECT_TRUE(is_within(rows, *within));
  EXPECT_EQ(evaluate(p, *within), 60);  // only one of the four pairs can use more
}

}  // namespace
}  // namespace shw::solver
