// Which nodes may have 8-bit floats, and which layouts these have.
#include <gtest/gtest.h>

#include "graph/text.h"
#include "rewrite/verify.h"
#include "strategy/strategies.h"

namespace shw {
namespace {

Status verified(const std::string& nodes) {
  const auto graph = parse_graph(
      "input input.0: %x : f8e4m3fn[8,16]\n"
      "input input.1: %w : f8e5m2[16,8]\n"
      "input input.2: %i : i64[4]\n"
      "input input.3: %s : f32[]\n" +
      nodes + "return output.0 = %y\n");
  return graph.ok() ? verify_graph(*graph) : graph.status();
}

TEST(Float8Nodes, AreMovedMadeComparedCastAndMultiplied) {
  for (const char* nodes : {
           "%y = view(%x, size=[16,8]) : f8e4m3fn[16,8]\n",
           "%y = cat(%x, %x, dim=1) : f8e4m3fn[8,32]\n",
           "%y = index_select(%x, %i, dim=0) : f8e4m3fn[4,16]\n",
           "%y = full(size=[4], fill_value=1.0, dtype=f8e5m2) : f8e5m2[4]\n",
           "%y = ne(%x, %x) : bool[8,16]\n",
           "%y = convert_element_type(%w, dtype=bf16) : bf16[16,8]\n",
           "%y = scaled_mm(%x, %w, %s, %s, none, dtype=bf16) : bf16[8,8]\n",
           "%y = scaled_mm(%x, %w, %s, %s, none) : f8e4m3fn[8,8]\n",
       })
    EXPECT_TRUE(verified(nodes).ok()) << nodes << verified(nodes).message();
}

TEST(Float8Nodes, HaveNoArithmetic) {
  const auto refused = [](const std::string& nodes) {
    const Status status = verified(nodes);
    EXPECT_EQ(status.code(), Code::kUnimplemented) << nodes << status.message();
    return status.message();
  };
  EXPECT_NE(refused("%y = add(%x, %x) : f8e4m3fn[8,16]\n")
                .find("add: there is no arithmetic in f8e4m3fn: cast to a wider float first"),
            std::string::npos);
  refused("%y = relu(%x) : f8e4m3fn[8,16]\n");
  refused("%y = mm(%x, %w) : f8e4m3fn[8,8]\n");
  refused("%y = sum(%x, dims=[0]) : f8e4m3fn[16]\n");
  refused("%y = softmax(%x, dim=1) : f8e4m3fn[8,16]\n");
  refused("%y = rand(size=[4], dtype=f8e5m2) : f8e5m2[4]\n");
  refused("%y = index_put(%x, %x, %i, accumulate=true) : f8e4m3fn[8,16]\n");
}

TEST(Float8Nodes, ScaleInWiderFloats) {
  EXPECT_EQ(verified("%c = convert_element_type(%s, dtype=f8e5m2) : f8e5m2[]\n"
                     "%y = scaled_mm(%x, %w, %c, %s, none, dtype=f32) : f32[8,8]\n")
                .code(),
            Code::kInvalidArgument);
}

// Sums of f32 that are cast to bf16 may be partial, but not sums that are cast to 8-bit floats.
TEST(Float8Nodes, AreNeverInParts) {
  for (const char* dtype : {"f8e4m3fn", "bf16"})
    for (Rules rules : {Rules::kFull, Rules::kCompat}) {
      const std::string type = dtype;
      const auto graph = parse_graph(
          "input input.0: %x : f32[8,16]\ninput input.1: %w : f32[16,8]\n"
          "input input.2: %i : i64[4]\n"
          "%m = mm(%x, %w) : f32[8,8]\n%c = convert_element_type(%m, dtype=" +
          type + ") : " + type + "[8,8]\n%k = to_copy(%m, dtype=" + type + ") : " + type +
          "[8,8]\n%e = embedding(%c, %i) : " + type +
          "[4,8]\nreturn output.0 = %c, output.1 = %k, output.2 = %e\n");
      ASSERT_TRUE(graph.ok()) << graph.status().message();
      Monitor monitor;
      const auto strategies =
          Strategies::enumerate(*graph, *Mesh::parse("a=2,b=2"), {.rules = rules}, monitor);
      ASSERT_TRUE(strategies.ok()) << strategies.status().message();
      bool any = false;
      for (uint32_t n = graph->num_nodes() - 3; n < graph->num_nodes(); ++n)
        for (uint32_t s = 0; s < strategies->of(NodeId{n}).count; ++s)
          any = any || strategies->result_layout(NodeId{n}, 0, s).has_partial();
      EXPECT_EQ(any, type == "bf16");
    }
}

TEST(Float8Nodes, AreNotStatedInParts) {
  const auto graph = parse_graph(
      "input input.0: %x : f8e4m3fn[8,16]\n"
      "%y = sharding_constraint(%x, placements=\"PR\") : f8e4m3fn[8,16]\nreturn output.0 = %y\n");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Monitor monitor;
  const Status status =
      Strategies::enumerate(*graph, *Mesh::parse("a=2,b=2"), {}, monitor).status();
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_NE(status.message().find("8-bit floats are not reduced over ranks"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace shw
