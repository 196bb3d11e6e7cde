// Changes of layout that move parts of mesh dims (redistribution/mesh_parts.h), run with the
// runtime's own collectives. Every element must arrive, and the program must cost what was planned.
#include <gtest/gtest.h>

#include <numeric>

#include "graph/text.h"
#include "graph/writer.h"
#include "run_plan.h"

namespace shw {
namespace {

using testing::f32;
using testing::floats;

constexpr int64_t kSize = 4096;
constexpr const char* kMatrix = R"(
input input.0: %x : f32[4096,4096]
%y = alias(%x) : f32[4096,4096]
return output = %y
)";

TEST(MeshParts, MoveEveryElementForThePlannedPrice) {
  std::vector<float> x(kSize * kSize);
  std::iota(x.begin(), x.end(), 0.0f);  // f32 represents these integers exactly
  const auto graph = parse_graph(kMatrix);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (const char* mesh : {"a=2,b=4", "a=4,b=2"})
    for (const char* from : {"S(0)S(1)", "S(1)S(0)"}) {
      SCOPED_TRACE(std::string(mesh) + " " + from);
      const char* to = from == std::string_view("S(0)S(1)") ? "S(1)S(0)" : "S(0)S(1)";
      const auto plan = testing::planned(write_graph(*graph),
                                         {.mesh = mesh, .input_layout = from, .output_layout = to});
      ASSERT_NE(plan, nullptr);
      bool has_parts = false;
      double us = 0;
      for (const ProgramStep& s : plan->program.steps) {
        us += s.cost_us;
        for (uint8_t axis : s.collective.axes) has_parts |= axis >= kFirstMeshPart;
      }
      EXPECT_TRUE(has_parts) << to_text(plan->program);
      EXPECT_NEAR(us, plan->summary.comm_us, 1e-6 * us);
      const auto ranks = testing::ranks_of(plan);
      ASSERT_NE(ranks, nullptr);
      const auto out = ranks->run("step", std::vector{f32(x, {kSize, kSize})});
      ASSERT_TRUE(out.ok()) << out.status().message();
      EXPECT_EQ(floats((*out)[0]), x);
    }
}

}  // namespace
}  // namespace shw
