// Which strategies of `compat` the `full` rule set leaves out, and that it leaves out no others.
#include <gtest/gtest.h>

#include <set>

#include "strategy/strategies.h"

namespace shw {
namespace {

// embedding(weight, indices), then mean over the last dim.
Graph small_graph(int64_t rows, int64_t batch) {
  Graph g;
  const NodeId w = g.add_input("w", row_major(Dtype::kF32, {rows, 16}),
                               {.role = InputRole::kParameter, .name = "w"});
  const NodeId i = g.add_input("i", row_major(Dtype::kI64, {batch, 8}),
                               {.role = InputRole::kInput, .name = "0"});
  const NodeId e =
      g.add_node(OpKind::kEmbedding, "e", {w, i}, {}, row_major(Dtype::kF32, {batch, 8, 16}));
  Attrs a;
  a.set(AttrKey::kDims, std::vector<int64_t>{2});
  g.add_node(OpKind::kMean, "m", {e}, a, row_major(Dtype::kF32, {batch, 8}));
  return g;
}

std::set<std::string> texts(const Graph& g, NodeId n, Rules rules) {
  Monitor monitor;
  const auto s = Strategies::enumerate(g, *Mesh::parse("a=2,b=4"), {.rules = rules}, monitor);
  EXPECT_TRUE(s.ok());
  std::set<std::string> set;
  for (uint32_t i = 0; i < s->of(n).count; ++i) set.insert(strategy_text(*s, n, i, 2));
  EXPECT_EQ(set.size(), s->of(n).count) << "a strategy is listed twice";
  return set;
}

TEST(Strategies, FullOffersUnevenShardsButNoAveragesOverThem) {
  const Graph g = small_graph(64, 6);  // 6 over 4 ranks: 2, 2, 2, 0
  const auto compat = texts(g, NodeId{3}, Rules::kCompat), full = texts(g, NodeId{3}, Rules::kFull);
  EXPECT_EQ(compat, full) << "the dim that is averaged, of 16, is even";

  Graph over;
  const NodeId x = over.add_input("x", row_major(Dtype::kF32, {6, 8}), {});
  Attrs first;
  first.set(AttrKey::kDims, std::vector<int64_t>{0});
  over.add_node(OpKind::kMean, "m", {x}, first, row_major(Dtype::kF32, {8}));
  const auto offered = texts(over, NodeId{1}, Rules::kFull);
  EXPECT_TRUE(texts(over, NodeId{1}, Rules::kCompat).count("(RS(0)) -> RP(avg)"));
  EXPECT_FALSE(offered.count("(RS(0)) -> RP(avg)")) << "6 over 4";
  EXPECT_TRUE(offered.count("(S(0)R) -> P(avg)R")) << "6 over 2";
}

TEST(Strategies, FullKeepsUnevenShardsOutOfViewsThatRegroup) {
  const auto offered = [](std::vector<int64_t> from, std::vector<int64_t> to, Rules rules) {
    Graph g;
    const NodeId x = g.add_input("x", row_major(Dtype::kF32, Dims(from)), {});
    Attrs size;
    size.set(AttrKey::kSize, to);
    g.add_node(OpKind::kView, "v", {x}, size, row_major(Dtype::kF32, Dims(to)));
    return texts(g, NodeId{1}, rules);
  };
  // 24 is divisible by 2 and by 4, and S(0)S(0) cuts the 12 remaining rows evenly by 4. 36 leaves
  // 18 rows, which 4 does not divide.
  EXPECT_TRUE(offered({24, 5}, {120}, Rules::kFull).count("(S(0)S(0)) -> S(0)S(0)"));
  EXPECT_TRUE(offered({36, 5}, {180}, Rules::kFull).count("(RS(0)) -> RS(0)"));
  EXPECT_TRUE(offered({36, 5}, {180}, Rules::kCompat).count("(S(0)S(0)) -> S(0)S(0)"));
  EXPECT_FALSE(offered({36, 5}, {180}, Rules::kFull).count("(S(0)S(0)) -> S(0)S(0)"));
  EXPECT_TRUE(offered({6, 5}, {6, 5, 1}, Rules::kFull).count("(RS(0)) -> RS(0)")) << "it passes";
}

TEST(Strategies, FullCutsTheRowsOfATableWithoutMaskedPartials) {
  const Graph g = small_graph(64, 8);
  const auto compat = texts(g, NodeId{2}, Rules::kCompat), full = texts(g, NodeId{2}, Rules::kFull);
  EXPECT_TRUE(compat.count("(RS(0), RM) -> RM"));
  EXPECT_TRUE(full.count("(RS(0), RR) -> RP"));
  EXPECT_TRUE(full.count("(S(0)S(0), RR) -> PP"));
  EXPECT_FALSE(compat.count("(RS(0), RR) -> RP"));
  for (const std::string& s : compat)
    EXPECT_EQ(full.count(s), s.find('M') == std::string::npos ? 1u : 0u) << s;
}

// The first layer of a vision transformer: 4×4 patches of [batch, 4, 8, 16].
std::set<std::string> patch_strategies(int64_t batch, int64_t groups, Rules rules) {
  Graph g;
  const Dims x{batch, 4, 8, 16}, w{8, 4 / groups, 4, 4};
  Attrs a;
  a.set(AttrKey::kStride, std::vector<int64_t>{4, 4});
  a.set(AttrKey::kGroups, groups);
  const NodeId input = g.add_input("x", row_major(Dtype::kF32, x), {}),
               weight = g.add_input("w", row_major(Dtype::kF32, w), {});
  g.add_node(OpKind::kConvolution, "c", {input, weight, kNoNode}, a,
             row_major(Dtype::kF32, {batch, 8, 2, 4}));
  return texts(g, NodeId{2}, rules);
}

TEST(Strategies, FullCutsChannelsAndRowsOfPatchesButPatchesOnlyEvenly) {
  const auto compat = patch_strategies(6, 1, Rules::kCompat),
             full = patch_strategies(6, 1, Rules::kFull),
             grouped = patch_strategies(6, 2, Rules::kFull);
  EXPECT_EQ(compat.size(), 7u) << "3² but S(0)S(0), S(3)S(3): 6 samples and 4 columns over 8";
  for (const std::string& s : compat) EXPECT_TRUE(full.count(s)) << s;
  EXPECT_TRUE(full.count("(RS(0), RR, none) -> RS(0)")) << "6 samples over 4, uneven";
  EXPECT_TRUE(full.count("(S(2)S(3), RR, none) -> S(2)S(3)"));
  EXPECT_TRUE(full.count("(RR, S(0)S(0), none) -> S(1)S(1)"));
  EXPECT_TRUE(full.count("(RS(1), RS(1), none) -> RP"));
  for (const std::string& s : grouped)
    EXPECT_TRUE(s.find("S(1)") == std::string::npos && s.find('P') == std::string::npos) << s;
}

TEST(Strategies, FullCutsSharedHeadsOnlyEvenly) {
  Graph g;
  const TensorType q = row_major(Dtype::kF32, {6, 6, 8, 4}),
                   k = row_major(Dtype::kF32, {6, 2, 8, 4});
  const NodeId query = g.add_input("q", q, {}), key = g.add_input("k", k, {}),
               value = g.add_input("v", k, {});
  const TensorType lse = row_major(Dtype::kF32, {6, 6, 0}), state = row_major(Dtype::kI64, {});
  const std::vector<NodeId> operands = {query, key, value, kNoNode};
  const std::vector<std::optional<TensorType>> results = {q, lse, state, state};
  g.add_node(OpKind::kSdpa, "a", operands, {}, results, true, {});
  const auto full = texts(g, NodeId{3}, Rules::kFull);
  EXPECT_TRUE(full.count("(S(1)R, S(1)R, S(1)R, none) -> (S(1)R, RR, RR, RR)")) << "one key each";
  EXPECT_TRUE(full.count("(RS(0), RS(0), RS(0), none) -> (RS(0), RR, RR, RR)")) << "6 over 4";
  EXPECT_FALSE(full.count("(RS(1), RS(1), RS(1), none) -> (RS(1), RR, RR, RR)"));
}

TEST(Strategies, DocumentsAreCutWithTheBatchAndNotWithTheHeads) {
  Graph g;
  const TensorType q = row_major(Dtype::kF32, {8, 8, 16, 4});
  const NodeId query = g.add_input("q", q, {}),
               documents = g.add_input("d", row_major(Dtype::kI32, {8, 3}), {});
  Attrs a;
  a.set(AttrKey::kKernel, std::string("cpu"));
  const std::vector<NodeId> operands = {query, query, query, kNoNode, documents};
  const std::vector<std::optional<TensorType>> results = {q, row_major(Dtype::kF32, {8, 8, 16}),
                                                          std::nullopt, std::nullopt};
  const NodeId attention = g.add_node(OpKind::kSdpa, "a", operands, a, results, true, {});
  const std::string cut = "S(0)S(1)", rows = "S(0)R";
  EXPECT_TRUE(texts(g, attention, Rules::kFull)
                  .count("(" + cut + ", " + cut + ", " + cut + ", none, " + rows + ") -> (" + cut +
                         ", " + cut + ", none, none)"));
}

TEST(Strategies, FullCutsTheGroupsOfAProduct) {
  const auto offered = [](const Dims& a, const Dims& b, const Dims& out, Rules rules) {
    Graph g;
    const NodeId x = g.add_input("x", row_major(Dtype::kF32, a), {}),
                 y = g.add_input("y", row_major(Dtype::kF32, b), {}),
                 ends = g.add_input("ends", row_major(Dtype::kI32, {5}), {});
    return texts(g,
                 g.add_node(OpKind::kGroupedMm, "p", {x, y, ends}, {}, row_major(Dtype::kF32, out)),
                 rules);
  };
  const Dims rows{40, 16}, columns{16, 40}, first{5, 24, 16}, second{5, 16, 24};
  for (const auto& [a, b, out, cut] :
       {std::tuple(rows, second, Dims{40, 24}, "(RR, RS(0), RR) -> RP"),
        std::tuple(first, columns, Dims{24, 40}, "(RS(0), RR, RR) -> RP"),
        std::tuple(columns, rows, Dims{5, 16, 16}, "(RR, RR, RR) -> RS(0)")}) {
    const auto compat = offered(a, b, out, Rules::kCompat), full = offered(a, b, out, Rules::kFull);
    EXPECT_FALSE(compat.count(cut)) << cut;
    EXPECT_TRUE(full.count(cut)) << cut << ": five over four";
    for (const std::string& s : compat) EXPECT_TRUE(full.count(s)) << s;
  }
}

TEST(Strategies, FullKeepsSumsOutOfIntegerCasts) {
  for (const auto& [dtype, sums, maxima] :
       {std::tuple(Dtype::kBF16, true, true), std::tuple(Dtype::kI32, false, true),
        std::tuple(Dtype::kBool, false, false)}) {
    Graph g;
    const NodeId x = g.add_input("x", row_major(Dtype::kF32, {64, 64}), {});
    const NodeId y =
        g.add_node(OpKind::kNeg, "y", {x}, {}, g.type(x));  // offers sums, averages, maxima, minima
    Attrs a;
    a.set(AttrKey::kDtype, dtype);
    const NodeId z =
        g.add_node(OpKind::kConvertElementType, "z", {y}, a, row_major(dtype, {64, 64}));
    const auto full = texts(g, z, Rules::kFull), compat = texts(g, z, Rules::kCompat);
    EXPECT_EQ(full.count("(RP) -> RP"), sums ? 1u : 0u) << dtype_name(dtype);
    EXPECT_EQ(full.count("(RP(max)) -> RP(max)"), maxima ? 1u : 0u) << dtype_name(dtype);
    EXPECT_TRUE(compat.count("(RP) -> RP"));
  }
}

TEST(Strategies, OfEqualNodesAreSharedAndCancelStops) {
  Graph g;
  NodeId x = g.add_input("x", row_major(Dtype::kF32, {64, 64}), {});
  for (int i = 0; i < 1000; ++i) x = g.add_node(OpKind::kExp, "", {x}, {}, g.type(x));
  Monitor monitor;
  const auto s =
      Strategies::enumerate(g, *Mesh::parse("a=4,b=4"), {.rules = Rules::kCompat}, monitor);
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s->num_sets(), 2u);
  const std::atomic<bool> raised{true};
  monitor.cancel = &raised;
  EXPECT_EQ(Strategies::enumerate(g, *Mesh::parse("a=4,b=4"), {.rules = Rules::kCompat}, monitor)
                .status()
                .code(),
            Code::kCancelled);
}

}  // namespace
}  // namespace shw
