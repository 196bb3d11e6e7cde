// The number of threads never changes a plan: its bytes are the same under every kind of limit.
#include <gtest/gtest.h>

#include <ostream>

#include "packed.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

struct ThreadsCase {
  const char* graph;
  const char* mesh;
  Rules rules = Rules::kFull;
  double memory = 0;  // memory limit as a factor of the peak planned without one
  double budget = 0;  // factor of the parameter budget; 0: none
  std::vector<uint32_t> threads = {2, 4, 16};
  uint64_t most_parts = 100000;
  friend void PrintTo(const ThreadsCase& c, std::ostream* out) { *out << c.graph << " " << c.mesh; }
};

class PlanThreads : public ::testing::TestWithParam<ThreadsCase> {};

TEST_P(PlanThreads, NeverChangeThePlan) {
  const ThreadsCase& c = GetParam();
  const std::vector<uint8_t> graph = testing::test_graph(c.graph);
  CompileOptions options;
  options.mesh = c.mesh;
  options.rules = c.rules;
  options.keep_graph = false;
  options.optimizer_factor = c.memory > 0 ? 2 : 0;
  options.solver.max_branch_nodes = c.most_parts;
  options.parameter_budget = c.budget > 0
                                 ? ParameterBudget{ParameterBudget::Kind::kFactor, c.budget}
                                 : ParameterBudget{ParameterBudget::Kind::kNone, 0};
  Monitor monitor;
  if (c.memory > 0) {
    const auto free = testing::compile_packed(graph, options, monitor);
    ASSERT_TRUE(free.ok()) << free.status().message();
    options.memory_limit_bytes =
        static_cast<int64_t>(c.memory * static_cast<double>(free->plan.summary.memory_peak_bytes));
  }
  const auto alone = testing::compile_packed(graph, options, monitor);
  ASSERT_TRUE(alone.ok()) << alone.status().message();
  RecordProperty("branch_nodes", static_cast<int>(alone->solve_stats.branch_nodes));
  for (const uint32_t threads : c.threads) {
    options.solver.threads = threads;
    const auto together = testing::compile_packed(graph, options, monitor);
    ASSERT_TRUE(together.ok()) << together.status().message();
    EXPECT_TRUE(together->bytes == alone->bytes) << threads << " threads";
    EXPECT_EQ(together->solve_stats.branch_nodes, alone->solve_stats.branch_nodes);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Small, PlanThreads,
    ::testing::Values(ThreadsCase{"ffn_1d8", "dp=8"},
                      ThreadsCase{"ffn_1d8", "dp=2,tp=4", Rules::kFull, 0.8},
                      ThreadsCase{"block_1d8", "dp=2,tp=4"},
                      ThreadsCase{"block_1d8", "dp=8,tp=8", Rules::kFull, 0.7},
                      ThreadsCase{"block_1d8", "dp=8,tp=8", Rules::kFull, 0, 0.1},
                      ThreadsCase{"block_1d8", "dp=8,tp=8", Rules::kFull, 0.8, 0.1},
                      ThreadsCase{"block_3d4x4x4", "a=4,b=4,c=4", Rules::kFull, 0, 0.05},
                      ThreadsCase{"block_3d4x4x4", "a=4,b=4,c=4", Rules::kCompat},
                      ThreadsCase{"llama_tiny_2x4", "dp=2,tp=4", Rules::kFull, 0.9},
                      ThreadsCase{"llama_tiny_2x4", "dp=2,tp=4", Rules::kFull, 0, 0.3},
                      ThreadsCase{"llama_tiny_2x4", "dp=2,tp=4", Rules::kCompat, 0, 0.3},
                      ThreadsCase{"examples/gpt2_tiny_2x4", "dp=2,tp=4"},
                      ThreadsCase{"examples/gpt2_tiny_2x4", "dp=2,tp=4", Rules::kFull, 0.8},
                      ThreadsCase{
                          "examples/gpt2_tiny_2x4", "dp=2,tp=4", Rules::kFull, 0, 0.3, {2}, 240}));

INSTANTIATE_TEST_SUITE_P(
    Large, PlanThreads,
    ::testing::Values(
        ThreadsCase{"llama8b_L2_8x8_einsum", "dp=8,tp=8", Rules::kFull, 0, 0.05, {4}},
        ThreadsCase{"llama8b_L2_8x8_einsum", "dp=8,tp=8", Rules::kFull, 0.8, 0, {4}},
        ThreadsCase{"examples/llama8b_L32_8x8_einsum", "dp=8,tp=8", Rules::kFull, 0, 0, {16}}));

}  // namespace
}  // namespace shw
