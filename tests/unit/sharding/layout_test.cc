#include "sharding/layout.h"

#include <gtest/gtest.h>

namespace shw {
namespace {

Mesh mesh(const char* text) { return *Mesh::parse(text); }
Layout layout(const char* text, int mesh_rank) {
  const auto l = parse_layout(text, mesh_rank);
  EXPECT_TRUE(l.ok()) << l.status().message();
  return *l;
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
  for (const char* text : {"S(0)R", "RR", "PP", "P(avg)S(1)", "S(0)S(0)", "S(0)S(0)|1,0", "MR"})
    EXPECT_EQ(to_string(layout(text, 2), 2), text);
  EXPECT_EQ(to_string(layout("S(0)S(1)|1,0", 2), 2), "S(0)S(1)")
      << "an order that means nothing goes";
  for (const char* bad : {"", "S(0)", "S(0)RR", "S(9)R", "S()R", "XR", "P(foo)R", "S(0)S(0)|0,0",
                          "S(0)S(0)|0", "S(0)S(0)|0,1,2", "S(0"})
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

}  // namespace
}  // namespace shw
