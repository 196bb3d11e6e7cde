#include "solver/cost_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace shw::solver {
namespace {

using Handle = CostStore::Handle;

std::vector<double> random_costs(std::mt19937& random, size_t n, bool some_forbidden = true) {
  std::vector<double> costs(n);
  for (double& c : costs) c = some_forbidden && random() % 5 == 0 ? kForbidden : random() % 50;
  return costs;
}

double at(CostStore& store, Handle h, uint32_t row, uint32_t col) {
  return store.data(h)[size_t{row} * store.cols(h) + col];
}

CostStore::MaskId random_mask(CostStore& store, std::mt19937& random, uint32_t size) {
  std::vector<uint64_t> words((size + 63) / 64, 0);
  for (uint32_t i = 0; i < size; ++i) words[i / 64] |= uint64_t{random() % 3 != 0} << (i % 64);
  return store.mask(words, size);
}

// Sizes on both sides of a 64-bit word, in both orientations.
TEST(CostStore, ComputesWhatPlainLoopsDo) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const uint32_t k = 1 + random() % 70, ka = 1 + random() % 70, kb = 1 + random() % 9;
    const auto costs_a = random_costs(random, size_t{k} * ka),
               costs_b = random_costs(random, size_t{kb} * k);
    const auto unary = random_costs(random, k);
    CostStore store;
    const Handle a = store.borrow(k, ka, costs_a.data());
    const Handle b = CostStore::flip(store.borrow(kb, k, costs_b.data()));  // as k × kb
    const auto u = store.vector(unary);

    ASSERT_EQ(store.rows(b), k);
    const Handle both = store.eliminate(u, a, b);
    const auto alone = store.values(store.eliminate(u, b));
    for (uint32_t j = 0; j < kb; ++j) {
      double best = kForbidden;
      for (uint32_t s = 0; s < k; ++s) best = std::min(best, unary[s] + costs_b[size_t{j} * k + s]);
      EXPECT_EQ(alone[j], best);
      for (uint32_t i = 0; i < ka; ++i) {
        best = kForbidden;
        for (uint32_t s = 0; s < k; ++s)
          best =
              std::min(best, unary[s] + costs_a[size_t{s} * ka + i] + costs_b[size_t{j} * k + s]);
        EXPECT_EQ(at(store, both, i, j), best);
      }
    }

    const auto keep = random_mask(store, random, k), keep_b = random_mask(store, random, kb);
    const auto supported = store.supported(b, keep, keep_b),
               supported_b = store.supported(CostStore::flip(b), keep_b, keep);
    for (uint32_t s = 0; s < k; ++s) {
      bool any = false;
      for (uint32_t j = 0; j < kb; ++j)
        any |= store.contains(keep_b, j) && costs_b[size_t{j} * k + s] != kForbidden;
      EXPECT_EQ(store.contains(supported, s), store.contains(keep, s) && any);
    }
    for (uint32_t j = 0; j < kb; ++j) {
      bool any = false;
      for (uint32_t s = 0; s < k; ++s)
        any |= store.contains(keep, s) && costs_b[size_t{j} * k + s] != kForbidden;
      EXPECT_EQ(store.contains(supported_b, j), store.contains(keep_b, j) && any);
    }

    const Handle part = store.restricted(b, keep, keep_b);
    const auto rows = store.labels(store.restricted_labels(store.all_labels(k), keep));
    const auto cols = store.labels(store.restricted_labels(store.all_labels(kb), keep_b));
    ASSERT_EQ(store.rows(part), rows.size());
    ASSERT_EQ(store.cols(part), cols.size());
    for (uint32_t s = 0; s < rows.size(); ++s)
      for (uint32_t j = 0; j < cols.size(); ++j)
        EXPECT_EQ(at(store, part, s, j), costs_b[size_t{cols[j]} * k + rows[s]]);
    const Handle twice = store.sum_matrices(part, part);
    for (uint32_t s = 0; s < rows.size(); ++s)
      for (uint32_t j = 0; j < cols.size(); ++j)
        EXPECT_EQ(at(store, twice, s, j), 2 * at(store, part, s, j));
  }
}

// A variable of a part of a problem may have no labels left.
TEST(CostStore, KnowsTablesOfNothing) {
  CostStore store;
  EXPECT_EQ(store.vector({}), store.vector({}));
  EXPECT_EQ(store.mask({}, 0), store.mask({}, 0));
  EXPECT_EQ(store.count(store.full(0)), 0u);
}

TEST(CostStore, GivesEqualTablesOneNumberAndDoesEqualWorkOnce) {
  std::mt19937 random(1);
  const auto costs = random_costs(random, 30);
  const auto unary = random_costs(random, 5);
  CostStore store;
  EXPECT_EQ(store.vector(unary), store.vector(std::vector<double>(unary)));
  const Handle m = store.borrow(5, 6, costs.data());
  const auto u = store.vector(unary);
  const Handle first = store.eliminate(u, m, m);
  const size_t tables = store.num_matrices();
  EXPECT_EQ(store.eliminate(u, m, m), first);
  // The copy has its own number but an equal table: the store must find the existing result.
  const Handle copy = store.borrow(5, 6, costs.data());
  EXPECT_EQ(store.eliminate(u, copy, copy), first);
  EXPECT_EQ(store.num_matrices(), tables + 1);
}

}  // namespace
}  // namespace shw::solver
