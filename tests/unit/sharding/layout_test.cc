#include "sharding/layout.h"

#include <gtest/gtest.h>

#include <vector>

#include "sharding/mesh_groups.h"
#include "sharding/unfolding.h"

namespace shw {
namespace {

Mesh mesh(const char* text) { return *Mesh::parse(text); }
Layout layout(const char* text, int mesh_rank) {
  const auto l = parse_layout(text, mesh_rank);
  EXPECT_TRUE(l.ok()) << l.status().message();
  return *l;
}

// Eight ranks of b in parts 4·2. Neighbours along the outer part are two ranks apart.
TEST(Mesh, CountsADimInParts) {
  const Mesh m = *Mesh::create({{"a", 2}, {"b", 8, {4, 2}}, {"c", 3}});
  EXPECT_EQ(m.rank(), 3);
  EXPECT_EQ(m.num_parts(), 2);
  EXPECT_EQ(m.name(kFirstMeshPart), "b.0");
  EXPECT_EQ(m.size(kFirstMeshPart), 4);
  EXPECT_EQ(m.stride(1), 3);
  EXPECT_EQ(m.stride(kFirstMeshPart), 6);
  EXPECT_EQ(m.stride(kFirstMeshPart + 1), 3);
  const Mesh fine = m.by_parts();
  EXPECT_EQ(fine.to_string(), "a=2,b.0=4,b.1=2,c=3");
  EXPECT_EQ(m.mask_by_parts(0b010), 0b0110u);
  EXPECT_EQ(m.mask_by_parts(1u << (kFirstMeshPart + 1) | 1), 0b0101u);
  for (int64_t rank = 0; rank < m.num_ranks(); ++rank) {
    EXPECT_EQ(m.coordinate(rank, kFirstMeshPart), fine.coordinate(rank, 1));
    EXPECT_EQ(m.coordinate(rank, kFirstMeshPart + 1), fine.coordinate(rank, 2));
    EXPECT_EQ(m.coordinate(rank, 2), fine.coordinate(rank, 3));
  }
  for (const int64_t axis : {-1, 3, kFirstMeshPart - 1, kFirstMeshPart + 2})
    EXPECT_FALSE(m.has_axis(axis));
  for (const std::vector<int64_t>& parts :
       {std::vector<int64_t>{4}, {4, 4}, {8, 1}, {0}, {-4, -2}, {16}})
    EXPECT_EQ(Mesh::create({{"b", 8, parts}}).status().code(), Code::kInvalidArgument);
}

TEST(Mesh, ParsesAndRefuses) {
  EXPECT_EQ(mesh("dp=2,tp=4").num_ranks(), 8);
  EXPECT_EQ(mesh("dp=2,tp=4").coordinate(6, 0), 1);
  EXPECT_EQ(mesh("dp=2,tp=4").coordinate(6, 1), 2);
  for (const char* bad :
       {"", "dp", "dp=", "dp=0", "dp=-1", "=2", "dp=2,dp=2", "dp=2,", "a=1048576,b=2",
        "a=1,b=1,c=1,d=1,e=1,f=1,g=1", "dp=99999999999999999999"})
    EXPECT_EQ(Mesh::parse(bad).status().code(), Code::kInvalidArgument) << bad;
}

TEST(Layout, TextRoundTrips) {
  for (const char* text : {"S(0)R", "RR", "PP", "P(avg)S(1)", "S(0)S(0)", "S(0)S(0)|1,0", "MR",
                           "S(0)SS(0,16)", "SS(1,65535)SS(1,65535)|1,0"})
    EXPECT_EQ(to_string(layout(text, 2), 2), text);
  EXPECT_EQ(to_string(layout("S(0)S(1)|1,0", 2), 2), "S(0)S(1)")
      << "an order that means nothing goes";
  for (const char* bad :
       {"", "S(0)", "S(0)RR", "S(9)R", "S()R", "XR", "P(foo)R", "S(0)S(0)|0,0", "S(0)S(0)|0",
        "S(0)S(0)|0,1,2", "S(0", "SS(0)R", "SS(0,1)R", "SS(0,65536)R", "SS(8,2)R", "SS(0,2"})
    EXPECT_EQ(parse_layout(bad, 2).status().code(), Code::kInvalidArgument) << bad;
}

TEST(Layout, UnevenShardsExistWhileNoStepRunsOut) {
  const Mesh m = mesh("a=32,b=8");
  EXPECT_TRUE(is_shardable(Dims{280}, layout("S(0)S(0)", 2), m));  // 280 ≥ 32, then 9 ≥ 8
  EXPECT_FALSE(is_evenly_sharded(Dims{280}, layout("S(0)S(0)", 2), m));
  EXPECT_FALSE(is_shardable(Dims{200}, layout("S(0)S(0)", 2), m));  // 7 < 8
  EXPECT_EQ(local_shape(Dims{280}, layout("S(0)S(0)", 2), m), Dims{2});
}

TEST(Layout, OrderSaysWhoOwnsWhichBlock) {
  const Mesh m = mesh("a=2,b=4");
  for (int64_t rank = 0; rank < 8; ++rank) {
    const int64_t i = rank / 4, j = rank % 4;
    EXPECT_EQ(local_offset(Dims{16}, layout("S(0)S(0)", 2), m, rank)[0], 2 * (4 * i + j));
    EXPECT_EQ(local_offset(Dims{16}, layout("S(0)S(0)|1,0", 2), m, rank)[0], 2 * (2 * j + i));
  }
}

// The elements of a row of `size` elements that a rank owns.
std::vector<int64_t> owned(int64_t size, const char* text, const Mesh& m, int64_t rank) {
  const Layout l = layout(text, m.rank());
  const auto u = Unfolding::of(Dims{size}, m, {l});
  EXPECT_TRUE(u.has_value());
  const Layout plain = u->unfolded(l);
  const Dims first = local_offset(u->shape(), plain, m, rank);
  const Dims local = local_shape(u->shape(), plain, m);
  EXPECT_EQ(u->folded_shape(local), local_shape(Dims{size}, l, m));
  EXPECT_EQ(u->folded(plain), l);
  std::vector<int64_t> list;
  for (int64_t i = 0; i < local[0]; ++i)
    for (int64_t j = 0; j < (local.size() > 1 ? local[1] : 1); ++j)
      list.push_back(local.size() > 1 ? (first[0] + i) * u->shape()[1] + first[1] + j
                                      : first[0] + i);
  return list;
}

using Indices = std::vector<int64_t>;

TEST(StridedShard, IsABlockOfEveryGroup) {
  const Mesh line = mesh("a=2");
  EXPECT_EQ(owned(12, "SS(0,3)", line, 0), (Indices{0, 1, 4, 5, 8, 9}));
  EXPECT_EQ(owned(12, "SS(0,3)", line, 1), (Indices{2, 3, 6, 7, 10, 11}));
}

// [4,6] as S(0)S(1), viewed as one dim: 2 × 2 blocks of 2 × 3 elements.
TEST(StridedShard, ComposesWithAPlainShardOfTheSameDim) {
  const Mesh grid = mesh("a=2,b=2");
  EXPECT_EQ(owned(24, "S(0)SS(0,4)", grid, 0), (Indices{0, 1, 2, 6, 7, 8}));
  EXPECT_EQ(owned(24, "S(0)SS(0,4)", grid, 3), (Indices{15, 16, 17, 21, 22, 23}));
  EXPECT_EQ(owned(24, "SS(0,4)S(0)", grid, 2), (Indices{3, 4, 5, 9, 10, 11}));
}

TEST(StridedShard, IsCutFurtherInShardOrder) {
  const Mesh grid = mesh("a=2,b=2");
  EXPECT_EQ(owned(8, "SS(0,2)SS(0,2)", grid, 1), (Indices{1, 5}));
  EXPECT_EQ(owned(8, "SS(0,2)SS(0,2)|1,0", grid, 1), (Indices{2, 6}));
}

TEST(StridedShard, ExistsOnlyWhereItIsEven) {
  const Mesh m = mesh("a=4,b=2");
  EXPECT_TRUE(is_evenly_sharded(Dims{32}, layout("SS(0,4)R", 2), m));
  EXPECT_TRUE(is_evenly_sharded(Dims{32}, layout("SS(0,4)S(0)", 2), m));
  EXPECT_FALSE(is_evenly_sharded(Dims{32}, layout("SS(0,16)R", 2), m)) << "groups of two";
  EXPECT_FALSE(is_evenly_sharded(Dims{32}, layout("SS(0,5)R", 2), m)) << "five does not divide";
  EXPECT_FALSE(is_evenly_sharded(Dims{48}, layout("SS(0,3)S(0)", 2), m)) << "two groups of three";
  EXPECT_FALSE(is_evenly_sharded(Dims{64}, layout("SS(0,4)SS(0,8)", 2), m)) << "two factors";
  EXPECT_FALSE(is_shardable(Dims{32}, layout("SS(0,16)R", 2), m));
  EXPECT_FALSE(is_evenly_sharded(Dims{32}, layout("SS(1,4)R", 2), m)) << "no such dim";
  EXPECT_FALSE(is_evenly_sharded(Dims{32}, layout("SS(0,4)S(1)", 2), m)) << "no such dim";
  EXPECT_FALSE(is_evenly_sharded(Dims{32, 1, 1, 1, 1, 1, 1, 1}, layout("SS(0,4)R", 2), m))
      << "nine dims when unfolded";
}

TEST(MeshGroups, AreReadByTheNamesOfDims) {
  const Mesh mesh = *Mesh::parse("dp=2,cp=2,ep=4");
  using Groups = std::vector<std::vector<uint8_t>>;
  EXPECT_EQ(*parse_groups("", mesh), Groups());
  EXPECT_EQ(*parse_groups("ep; dp,ep ;ep , cp,dp", mesh), (Groups{{2}, {0, 2}, {2, 1, 0}}));
  for (const char* wrong : {"tp", "dp;;ep", " ", "dp,dp", "0"})
    EXPECT_EQ(parse_groups(wrong, mesh).status().code(), Code::kInvalidArgument) << wrong;
}

}  // namespace
}  // namespace shw
