// No program leaves the compiler unverified.
#include "compiler/finish.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "compiler/place.h"
#include "compiler/programs.h"
#include "test_graphs.h"

namespace shw {
namespace {

TEST(Finish, VerifiesTheProgramOnAnyNumberOfThreads) {
  CompileOptions options;
  options.mesh = "dp=8";
  options.keep_graph = false;
  Monitor monitor;
  const auto model = PreparedModel::create(testing::test_graph("block_1d8"), options, monitor);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto question = ConstrainedModel::create(**model, options, monitor);
  ASSERT_TRUE(question.ok());
  auto placed = place(*question, options.solver, monitor);
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  auto program = program_of(**model, *placed, monitor);
  ASSERT_TRUE(program.ok()) << program.status().message();
  std::swap(program->steps.front(), program->steps.back());  // reads what is not written yet
  placed->program = std::make_shared<const Program>(*std::move(program));
  for (const uint32_t threads : {1u, 2u}) {
    options.solver.threads = threads;
    const auto plan = finish(**model, options, *placed, monitor);
    EXPECT_EQ(plan.status().code(), Code::kInternal) << threads << " threads";
    EXPECT_NE(plan.status().message().find("invalid program"), std::string::npos)
        << plan.status().message();
  }
  EXPECT_EQ(final_program(**model, *placed, monitor).status().code(), Code::kInternal);
  EXPECT_TRUE(final_program(**model, *placed, monitor, {.verify = Verify::kLater}).ok());
}

}  // namespace
}  // namespace shw
