// There are several ways to hold copies within a memory limit. A caller that only asks whether a
// program fits gets the one that needs the least memory, and the same answer.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/place.h"
#include "compiler/programs.h"
#include "compiler/within_limit.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

TEST(WantedProgram, TakesTheLeastFirstAndTheSamePlacementsFit) {
  CompileOptions options;
  options.mesh = "dp=8,tp=8";
  options.optimizer_factor = 2;
  Monitor monitor;
  const auto model =
      PreparedModel::create(testing::test_graph("llama8b_L2_8x8_einsum"), options, monitor);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto question = ConstrainedModel::create(**model, options, monitor);
  ASSERT_TRUE(question.ok()) << question.status().message();
  const auto free = place(*question, 0, {}, monitor);
  ASSERT_TRUE(free.ok()) << free.status().message();
  int fitting = 0, refused = 0, smaller = 0;
  for (double share = 0.98; share < 1.1; share += 0.01) {
    SCOPED_TRACE(share);
    const double limit = std::trunc(share * free->memory.peak_bytes);
    Placed fastest = *free, any = *free;
    ASSERT_TRUE(complete(*question, limit, fastest, monitor).ok());
    ASSERT_TRUE(
        complete(*question, limit, any, monitor, solver::kForbidden, Wanted::kAnyThatFits).ok());
    EXPECT_EQ(fastest.memory.program_bytes <= limit, any.memory.program_bytes <= limit);
    if (fastest.memory.program_bytes > limit) {
      EXPECT_EQ(fastest.memory.program_bytes, any.memory.program_bytes);
      ++refused;
      continue;
    }
    ++fitting;
    EXPECT_LE(any.memory.program_bytes, fastest.memory.program_bytes);
    smaller += any.memory.program_bytes < fastest.memory.program_bytes;
  }
  EXPECT_GT(fitting, 0);
  EXPECT_GT(refused, 0);
  EXPECT_GT(smaller, 0);
}

}  // namespace
}  // namespace shw
