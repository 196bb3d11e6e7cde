// The strided family: which strided shards are offered beside which plain ones, and where none are
// offered.
#include <gtest/gtest.h>

#include <set>

#include "strategy/strategies.h"

namespace shw {
namespace {

using Texts = std::set<std::string>;

Texts texts(const Graph& g, NodeId n, bool strided, const char* mesh = "a=2,b=4") {
  Monitor monitor;
  const Mesh m = *Mesh::parse(mesh);
  const auto s = Strategies::enumerate(g, m, {.reachable_only = true, .strided = strided}, monitor);
  EXPECT_TRUE(s.ok()) << s.status().message();
  Texts set;
  for (uint32_t i = 0; i < s->of(n).count; ++i) set.insert(strategy_text(*s, n, i, m.rank()));
  EXPECT_EQ(set.size(), s->of(n).count) << "a strategy is listed twice";
  return set;
}

bool any_strided(const Texts& set) {
  for (const std::string& s : set)
    if (s.find("SS(") != std::string::npos) return true;
  return false;
}

void expect_plain_ones_too(const Graph& g, NodeId n) {
  const Texts with = texts(g, n, true);
  for (const std::string& s : texts(g, n, false)) EXPECT_TRUE(with.count(s)) << s;
}

NodeId input(Graph& g, const char* name, Dims shape) {
  return g.add_input(name, row_major(Dtype::kF32, shape),
                     {.role = InputRole::kInput, .name = name});
}
NodeId view(Graph& g, NodeId x, Dims shape) {
  Attrs a;
  a.set(AttrKey::kSize, std::vector<int64_t>(shape.begin(), shape.end()));
  return g.add_node(OpKind::kView, "", {x}, a, row_major(Dtype::kF32, shape));
}
NodeId mm(Graph& g, NodeId a, NodeId b) {
  return g.add_node(OpKind::kMm, "", {a, b}, {},
                    row_major(Dtype::kF32, {g.type(a).shape[0], g.type(b).shape[1]}));
}
NodeId transposed(Graph& g, NodeId x) {
  Attrs a;
  a.set(AttrKey::kDims, std::vector<int64_t>{1, 0});
  const Dims shape = {g.type(x).shape[1], g.type(x).shape[0]};
  return g.add_node(OpKind::kPermute, "", {x}, a,
                    TensorType{shape, Dims{1, shape[0]}, Dtype::kF32});
}

TEST(StridedFamily, AViewThatFlattensKeepsInnerShardsWithTheirFactor) {
  Graph g;
  const NodeId v = view(g, input(g, "x", {4, 8, 16}), {32, 16});
  const Texts set = texts(g, v, true);
  EXPECT_TRUE(set.count("(RS(1)) -> RSS(0,4)"));
  EXPECT_TRUE(set.count("(S(0)S(1)) -> S(0)SS(0,4)"));
  EXPECT_TRUE(set.count("(S(1)S(0)) -> SS(0,4)S(0)"));
  EXPECT_TRUE(set.count("(S(1)S(1)) -> SS(0,4)SS(0,4)"));
  expect_plain_ones_too(g, v);
  EXPECT_FALSE(any_strided(texts(g, v, false)));
}

TEST(StridedFamily, AViewThatSplitsGivesThemBack) {
  Graph g;
  const NodeId v = view(g, view(g, input(g, "x", {4, 8, 16}), {32, 16}), {4, 2, 4, 16});
  const Texts set = texts(g, v, true);
  EXPECT_TRUE(set.count("(SS(0,4)R) -> S(1)R"));
  EXPECT_TRUE(set.count("(SS(0,4)S(0)) -> S(1)S(0)"));
  EXPECT_TRUE(set.count("(RR) -> RR"));
  for (const std::string& s : set)
    EXPECT_EQ(s.find("RSS(0,4)) -> R"), std::string::npos) << "2 does not divide by 4: " << s;
}

// [4,8] → 32 → [8,4]: the cut after the first 4 lies inside the dim of 8.
TEST(StridedFamily, AViewThatRegroupsKeepsWhatStillIsBlocks) {
  Graph g;
  const NodeId v = view(g, view(g, input(g, "x", {4, 8, 16}), {32, 16}), {8, 4, 16});
  const Texts set = texts(g, v, true);
  EXPECT_TRUE(set.count("(SS(0,4)R) -> SS(0,4)R"));
  EXPECT_FALSE(set.count("(RSS(0,4)) -> RSS(0,4)"));
}

TEST(StridedFamily, ProductsTakeTheFactorsOfTheirOperands) {
  Graph g;
  const NodeId x = view(g, input(g, "x", {4, 8, 16}), {32, 16}), w = input(g, "w", {16, 64});
  const NodeId y = mm(g, x, w);
  const Texts set = texts(g, y, true);
  EXPECT_TRUE(set.count("(S(0)SS(0,4), RR) -> S(0)SS(0,4)"));
  EXPECT_TRUE(set.count("(SS(0,4)R, RS(1)) -> SS(0,4)S(1)"));
  for (const std::string& s : set) EXPECT_EQ(s.find(",2)"), std::string::npos) << s;
  expect_plain_ones_too(g, y);
  EXPECT_FALSE(any_strided(texts(g, y, false)));
}

TEST(StridedFamily, AWeightGradientContractsStridedShardsToSums) {
  Graph g;
  const NodeId x = view(g, input(g, "x", {4, 8, 16}), {32, 16});
  const NodeId dy = view(g, input(g, "dy", {4, 8, 64}), {32, 64});
  const NodeId dw = mm(g, transposed(g, dy), x);
  const Texts set = texts(g, dw, true);
  EXPECT_TRUE(set.count("(S(1)SS(1,4), S(0)SS(0,4)) -> PP"));
  EXPECT_TRUE(set.count("(SS(1,4)SS(1,4), SS(0,4)SS(0,4)) -> PP"));
  expect_plain_ones_too(g, dw);
}

TEST(StridedFamily, ChoicePointsOfferThemButOutputsDoNot) {
  Graph g;
  const NodeId x = view(g, input(g, "x", {4, 8, 16}), {32, 16});
  const NodeId inner = g.add_node(OpKind::kAlias, "", {x}, {}, g.type(x));
  const NodeId outer = g.add_node(OpKind::kAlias, "", {inner}, {}, g.type(x));
  g.add_output({.node = outer, .role = OutputRole::kResult, .name = "y"});
  EXPECT_TRUE(texts(g, inner, true).count("(S(0)SS(0,4)) -> S(0)SS(0,4)"));
  expect_plain_ones_too(g, inner);
  EXPECT_FALSE(any_strided(texts(g, outer, true)));
  expect_plain_ones_too(g, outer);
}

TEST(StridedFamily, FactorsThatDoNotFitAPlacementAreNotOffered) {
  for (const int64_t batch : {kMaxSplitFactor, kMaxSplitFactor + 1}) {
    Graph g;
    const NodeId v = view(g, input(g, "x", {batch, 8}), {batch * 8});
    EXPECT_EQ(any_strided(texts(g, v, true)), batch == kMaxSplitFactor);
  }
}

TEST(StridedFamily, TwoFactorsDoNotMeetInOneDim) {
  Graph g;
  const NodeId v = view(g, input(g, "x", {4, 8, 16}), {512});
  const Texts set = texts(g, v, true);
  EXPECT_TRUE(set.count("(S(1)R) -> SS(0,4)R"));
  EXPECT_TRUE(set.count("(RS(2)) -> RSS(0,32)"));
  EXPECT_FALSE(set.count("(S(1)S(2)) -> SS(0,4)SS(0,32)"));
}

TEST(StridedFamily, NeedsTheFullRules) {
  Graph g;
  input(g, "x", {4, 8});
  Monitor monitor;
  EXPECT_EQ(Strategies::enumerate(g, *Mesh::parse("a=2"),
                                  {.rules = Rules::kCompat, .strided = true}, monitor)
                .status()
                .code(),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace shw
