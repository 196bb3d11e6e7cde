// A square matrix is transposed, flattened by a copy, and made square again. The result has the
// shape and strides of the matrix, but not its elements. So a gather before the copy and a gather
// after it must not be merged into one gather of the matrix.
#include <gtest/gtest.h>

#include <numeric>

#include "graph/text.h"
#include "graph/writer.h"
#include "run_plan.h"

namespace shw {
namespace {

using testing::f32;
using testing::floats;

constexpr const char* kSquare = R"(
input param.w: %w : f32[8,8]
%t = t(%w) : f32[8,8]{1,8}
%flat = view(%t, size=[64]) : f32[64]
%square = view(%flat, size=[8,8]) : f32[8,8]
%y = relu(%square) : f32[8,8]
return output = %y
)";

TEST(ReshapeCopy, BetweenTwoGathersIsNotPassedOver) {
  std::vector<float> w(64), transposed(64);
  std::iota(w.begin(), w.end(), 1.0f);
  for (size_t i = 0; i < 64; ++i) transposed[i] = w[i % 8 * 8 + i / 8];
  const auto graph = parse_graph(kSquare);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  uint32_t gathering_twice = 0;
  for (const char* half : {"S(1)R", "RS(1)", "S(1)S(1)", "RR"})
    for (const char* again : {"S(0)R", "RS(0)", "S(0)S(0)", "RR"}) {
      SCOPED_TRACE(std::string(half) + " " + again);
      CompileOptions options{.mesh = "dp=2,tp=2", .output_layout = "RR"};
      options.pins = {{"param.w", "S(0)S(0)"}, {"t", half}, {"square", again}};
      const auto plan = testing::planned(write_graph(*graph), options);
      ASSERT_NE(plan, nullptr);
      gathering_twice += std::ranges::count_if(plan->program.steps, [](const ProgramStep& s) {
                           return s.collective.kind == CollectiveKind::kAllGather;
                         }) > 1;
      const auto ranks = testing::ranks_of(plan);
      ASSERT_NE(ranks, nullptr);
      const auto out = ranks->run("step", std::vector{f32(w, {8, 8})});
      ASSERT_TRUE(out.ok()) << out.status().message();
      EXPECT_EQ(floats((*out)[0]), transposed);
    }
  EXPECT_GT(gathering_twice, 0u) << "the pins do not make what this is for";
}

}  // namespace
}  // namespace shw
