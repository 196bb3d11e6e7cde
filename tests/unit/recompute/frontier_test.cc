#include "recompute/frontier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "unit/simulate/sketch.h"

namespace shw {
namespace {

using testing::Sketch;

// Up to eight forward steps with different prices, and backward steps that read some of their
// results.
Sketch random_chain(std::mt19937& random) {
  Sketch s;
  std::vector<ValueId> forward{s.input(64)};
  const auto any = [&] { return forward[random() % forward.size()]; };
  for (auto i = 4 + random() % 5; i-- > 0;) {
    const ValueId out = s.value(static_cast<int64_t>(1 + random() % 4000));
    s.step(static_cast<double>(1 + random() % 40), {any(), any()}, {out});
    forward.push_back(out);
  }
  for (int i = 0; i < 4; ++i) s.step(1, {any(), any()}, {s.value(8)}).phase = 1;
  return s;
}

// Tries all choices of forward steps that run again. Returns the shortest repetition time that
// keeps at most `kept_bytes`.
double shortest_us(const Joint& joint, const Frontier& frontier, int64_t kept_bytes) {
  uint32_t num_forward = 0;
  while (!joint.is_backward(num_forward)) ++num_forward;
  double shortest = std::numeric_limits<double>::infinity();
  for (uint32_t bits = 0; bits < 1u << num_forward; ++bits) {
    std::vector<uint8_t> again(joint.program().storages.size(), 0);
    for (uint32_t i = 0; i < num_forward; ++i)
      joint.for_outputs(i, [&](StorageId s) { again[s.v] = bits >> i & 1; });
    const Frontier::Cost cost = frontier.cost_of(again);
    if (cost.kept_bytes <= kept_bytes) shortest = std::min(shortest, cost.us);
  }
  return shortest;
}

TEST(Frontier, ChoicesFreeMoreAndMoreAndTheBoundIsOne) {
  std::mt19937 random(11);
  uint32_t tight = 0, between = 0;
  for (int round = 0; round < 60; ++round) {
    const Sketch s = random_chain(random);
    const Joint joint(s.p, s.p.entries[0]);
    Monitor monitor;
    const auto frontier = Frontier::of(joint, Graph(), monitor);
    ASSERT_TRUE(frontier.ok());
    Frontier::Cost last{std::numeric_limits<int64_t>::max(), -1};
    for (uint32_t k = 0; k < frontier->num_choices(); ++k) {
      const Frontier::Cost cost = frontier->cost_of(frontier->choice(k));
      EXPECT_LT(cost.kept_bytes, last.kept_bytes);
      EXPECT_GT(cost.us, last.us);
      last = cost;
      // With one block, every choice is a corner of the curve.
      EXPECT_EQ(shortest_us(joint, *frontier, cost.kept_bytes), cost.us) << "round " << round;
      EXPECT_NEAR(frontier->least_us(cost.kept_bytes), cost.us, 0.1 + 1e-3 * cost.us);
      tight += cost.us > 0;
    }
    EXPECT_EQ(frontier->corners().size(), frontier->num_choices());
    EXPECT_EQ(frontier->corners().back() + 1, frontier->num_choices());
    for (int64_t kept = 0; kept < 8000; kept += 370) {
      const double shortest = shortest_us(joint, *frontier, kept);
      EXPECT_LE(frontier->least_us(kept), shortest) << "round " << round << ", " << kept;
      between += std::isfinite(shortest) && frontier->least_us(kept) > 0;
    }
  }
  EXPECT_GT(tight, 60u) << "the programs do not try what they are for";
  EXPECT_GT(between, 60u);
}

// All parts become worth repeating at the same price, and none needs another. So each part is a
// choice of its own.
TEST(Frontier, PartsOfABlockThatDoNotDependOnOneAnotherChangeOverOneByOne) {
  Sketch s;
  const ValueId in = s.input(100);
  std::vector<ValueId> kept;
  for (int i = 0; i < 3; ++i) s.step(5, {in}, {kept.emplace_back(s.value(1000))});
  for (const ValueId v : kept) s.step(1, {v}, {s.value(8)}).phase = 1;
  const Joint joint(s.p, s.p.entries[0]);
  Monitor monitor;
  const auto frontier = Frontier::of(joint, Graph(), monitor);
  ASSERT_TRUE(frontier.ok());
  ASSERT_EQ(frontier->num_choices(), 2u);
  ASSERT_EQ(frontier->num_parts(0), 3u);
  for (uint32_t p = 0; p <= 3; ++p) {
    const Frontier::Cost cost = frontier->cost_of(frontier->choice(0, p));
    EXPECT_EQ(cost.kept_bytes, int64_t{1000} * (3 - p));
    EXPECT_EQ(cost.us, 5 * p);
    EXPECT_NEAR(frontier->least_us(cost.kept_bytes), cost.us, 0.1);
  }
  EXPECT_EQ(frontier->choice(0, 3), frontier->choice(1));
}

}  // namespace
}  // namespace shw
