// Plans that place scratch in the memory of outputs: the arena is smaller, and the bits are the
// same.
#include <gtest/gtest.h>

#include <algorithm>

#include "run_plan.h"
#include "tiny_model.h"
#include "tools/execute.h"

namespace shw {
namespace {

struct LentCase {
  const char* name;
  const testing::TinyModel& (*model)();
  const char *mesh, *recompute;
};

class LentOutputs : public ::testing::TestWithParam<LentCase> {};
INSTANTIATE_TEST_SUITE_P(
    Models, LentOutputs,
    ::testing::Values(LentCase{"llama_1", testing::llama_tiny, "x=1", "none"},
                      LentCase{"llama_dp8", testing::llama_tiny, "dp=8", "cheap"},
                      LentCase{"llama_2x4", testing::llama_tiny, "dp=2,tp=4", "none"},
                      LentCase{"gpt2_1", testing::gpt2_tiny, "x=1", "selective"},
                      LentCase{"gpt2_2x4", testing::gpt2_tiny, "dp=2,tp=4", "full"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST_P(LentOutputs, GiveTheSameBits) {
  const testing::TinyModel& model = GetParam().model();
  CompileOptions options;
  options.mesh = GetParam().mesh;
  options.recompute = *recompute_policy(GetParam().recompute);
  const auto plain = model.plan_of(options);
  options.lend_outputs = true;
  const auto lent = model.plan_of(options);
  ASSERT_TRUE(plain != nullptr && lent != nullptr);
  EXPECT_EQ(plain->summary.objective_us, lent->summary.objective_us);
  EXPECT_NE(plain->summary.options_hash, lent->summary.options_hash);
  EXPECT_TRUE(std::ranges::any_of(lent->program.storages, [](const ProgramStorage& s) {
    return s.kind == StorageKind::kInOutput;
  }));
  EXPECT_LT(lent->program.arena_bytes, plain->program.arena_bytes);
  const auto want = tools::execute(plain, "step", model.tensors());
  const auto got = tools::execute(lent, "step", model.tensors());
  ASSERT_TRUE(want.ok() && got.ok()) << want.status().message() << got.status().message();
  for (const auto& [name, t] : *want) EXPECT_EQ(t.bytes, got->at(name).bytes) << name;
}

}  // namespace
}  // namespace shw
