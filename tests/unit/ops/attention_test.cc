// Attention: which windows and dropouts are refused, and how many pairs a window leaves.
#include <gtest/gtest.h>

#include <algorithm>

#include "infer.h"
#include "tensor/key_window.h"

namespace shw {
namespace {

using testing::attrs;
using testing::f32;
using testing::infer;
using testing::of;

Attrs window_of(int64_t left, int64_t right, bool causal) {
  return attrs(
      {{AttrKey::kCausal, causal}, {AttrKey::kWindowLeft, left}, {AttrKey::kWindowRight, right}});
}

// Counts the pairs one by one by the definition.
int64_t pairs_one_by_one(int64_t left, int64_t right, bool causal, int64_t queries, int64_t keys) {
  int64_t count = 0;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j)
      count += (left < 0 || j >= i - left) && (right < 0 || j <= i + right) && (!causal || j <= i);
  return count;
}

TEST(AttentionWindow, LeavesThePairsOfItsDefinition) {
  for (const auto& [queries, keys] :
       {std::pair<int64_t, int64_t>{9, 9}, {4, 9}, {9, 4}, {0, 3}, {3, 0}, {1, 1}})
    for (int64_t left = -1; left < 12; ++left)
      for (int64_t right = -1; right < 12; ++right)
        for (bool causal : {false, true}) {
          const auto window = key_window(window_of(left, right, causal), queries, keys);
          ASSERT_TRUE(window.ok());
          EXPECT_EQ(visible_pairs(*window, queries, keys),
                    static_cast<double>(pairs_one_by_one(left, right, causal, queries, keys)))
              << queries << " × " << keys << ", " << left << ", " << right << ", " << causal;
        }
}

TEST(AttentionWindow, IsRefusedWhereItIsNone) {
  const OptionalType q = f32({2, 4, 8, 16});
  const OptionalType lse = f32({2, 4, 8});
  for (const auto& [key, name] : {std::pair(AttrKey::kWindowLeft, "window_left"),
                                  std::pair(AttrKey::kWindowRight, "window_right")}) {
    const std::string refusal =
        "!" + std::string(name) + " is -2; expected a number of keys, or -1 for no bound";
    EXPECT_EQ(infer(OpKind::kSdpa, {q, q, q, std::nullopt}, attrs({{key, int64_t{-2}}})), refusal);
    EXPECT_EQ(infer(OpKind::kSdpaBackward, {q, q, q, q, std::nullopt, q, lse},
                    attrs({{key, int64_t{-2}}})),
              refusal);
    EXPECT_NE(infer(OpKind::kSdpa, {q, q, q, std::nullopt}, attrs({{key, int64_t{1} << 62}}))[0],
              '!');
  }
}

TEST(AttentionDropout, IsRefusedWhereItCannotBe) {
  const OptionalType q = f32({2, 4, 8, 16}), lse = f32({2, 4, 8}), seed = of(Dtype::kI64, {});
  const std::vector<OptionalType> forward = {q, q, q, std::nullopt},
                                  backward = {q, q, q, q, std::nullopt, q, lse, seed, seed};
  const auto dropout = [](double p, const char* kernel) {
    return attrs({{AttrKey::kDropoutP, p}, {AttrKey::kKernel, std::string(kernel)}});
  };
  EXPECT_EQ(infer(OpKind::kSdpa, forward, dropout(0.1, "cpu")),
            "!kernel 'cpu' has no dropout, since it returns no seed: use kernel 'flash'");
  EXPECT_EQ(infer(OpKind::kSdpa, forward, dropout(1.5, "flash")),
            "!dropout_p is 1.500000, expected 0 to 1");
  EXPECT_EQ(
      infer(OpKind::kSdpa, {q, q, q, std::nullopt, std::nullopt, seed}, dropout(0.1, "flash")),
      "!the seed of the run is i64[], expected i64[2]: seed and offset");
  std::vector<OptionalType> no_seed = backward;
  no_seed.resize(7);
  EXPECT_EQ(infer(OpKind::kSdpaBackward, no_seed, dropout(0.1, "flash")),
            "!dropout_p is not 0, but operand 'seed', a result of sdpa, is absent");
  EXPECT_EQ(infer(OpKind::kSdpaBackward, backward, dropout(-1, "flash"))[0], '!');
  for (double p : {0.0, 0.1, 1.0}) {
    EXPECT_NE(infer(OpKind::kSdpa, forward, dropout(p, "flash"))[0], '!');
    EXPECT_NE(infer(OpKind::kSdpaBackward, backward, dropout(p, "flash"))[0], '!');
  }
}

// The reference planner's figures include neither masks nor windows. Windows are our own addition.
TEST(AttentionWindow, FlopsAreThoseOfThePairsThatItLeaves) {
  const OptionalType q = f32({2, 4, 8, 16}), k = f32({2, 2, 12, 16});
  const std::vector<OptionalType> forward = {q, k, k, std::nullopt},
                                  backward = {q, q, k, k, std::nullopt, q, f32({2, 4, 8})};
  const auto flops = [&](OpKind op, const std::vector<OptionalType>& operands, const Attrs& a) {
    return op_def(op).flops({operands, &a}, {});
  };
  const double heads = 2 * 4, all = 8 * 12;
  for (const Attrs& a : {Attrs{}, window_of(-1, -1, true)}) {
    EXPECT_EQ(flops(OpKind::kSdpa, forward, a), 2 * heads * all * 32);
    EXPECT_EQ(flops(OpKind::kSdpaBackward, backward, a), 2 * heads * all * 80);
  }
  for (bool causal : {false, true}) {
    const Attrs a = window_of(3, -1, causal);
    const auto pairs = static_cast<double>(pairs_one_by_one(3, -1, causal, 8, 12));
    EXPECT_EQ(flops(OpKind::kSdpa, forward, a), 2 * heads * pairs * 32);
    EXPECT_EQ(flops(OpKind::kSdpaBackward, backward, a), 2 * heads * pairs * 80);
  }
}

}  // namespace
}  // namespace shw
