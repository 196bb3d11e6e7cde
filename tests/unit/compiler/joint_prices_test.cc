// Checks the joint bound on placement and recomputation against programs. Whatever layouts and
// policies a graph is planned with, its program's step is never shorter than the bound for the
// memory that the program needs.
#include "compiler/joint_prices.h"

#include <gtest/gtest.h>

#include <vector>

#include "compiler/place.h"
#include "compiler/programs.h"
#include "simulate/simulate.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

struct BoundCase {
  const char* graph;
  const char* mesh;
  friend void PrintTo(const BoundCase& c, std::ostream* out) { *out << c.graph << ' ' << c.mesh; }
};
class StepBound : public ::testing::TestWithParam<BoundCase> {};
INSTANTIATE_TEST_SUITE_P(Graphs, StepBound,
                         ::testing::Values(BoundCase{"ffn_1d8", "dp=8"},
                                           BoundCase{"block_1d8", "dp=8"},
                                           BoundCase{"llama_tiny_2x4", "dp=2,tp=4"},
                                           BoundCase{"examples/gpt2_tiny_2x4", "dp=2,tp=4"},
                                           BoundCase{"llama8b_L2_8x8_einsum", "dp=8,tp=8"}),
                         [](const auto& c) { return "Case" + std::to_string(c.index); });

TEST_P(StepBound, HoldsForEachPlacementAndPolicy) {
  const std::vector<uint8_t> graph = testing::test_graph(GetParam().graph);
  // The cheapest placement, and others with more and more stated layouts.
  std::vector<CompileOptions> questions(3, CompileOptions{.mesh = GetParam().mesh});
  const std::string first = questions[0].mesh.find(',') == std::string::npos ? "S(0)" : "S(0)R";
  questions[1].input_layout = first;
  questions[2].input_layout = questions[2].output_layout = first;
  for (const CompileOptions& options : questions) {
    SCOPED_TRACE(options.input_layout + " " + options.output_layout);
    for (const char* policy : {"none", "cheap", "selective", "full"}) {
      SCOPED_TRACE(policy);
      CompileOptions asked = options;
      asked.recompute = *recompute_policy(policy);
      Monitor monitor;
      const auto model = PreparedModel::create(graph, asked, monitor);
      ASSERT_TRUE(model.ok()) << model.status().message();
      const auto question = ConstrainedModel::create(**model, asked, monitor);
      ASSERT_TRUE(question.ok()) << question.status().message();
      const auto placed = place(*question, {}, monitor);
      if (!placed.ok()) continue;  // for example, a batch that ranks cannot share
      const auto program = program_of(**model, *placed, monitor);
      ASSERT_TRUE(program.ok()) << program.status().message();
      const auto held = static_cast<double>(bytes_of(**model, *program));
      const JointPrices::Bound bound = JointPrices(*question).bound(held, placed->choice);
      const double us = simulated_us(*program);
      EXPECT_GT(bound.us, 0.02 * us);
      EXPECT_LE(bound.us, us * (1 + 1e-9));
      EXPECT_GE(JointPrices(*question).bound(held / 2, placed->choice).us, bound.us);
    }
  }
}

// If the limit is below what is held without recomputation, memory has a price.
TEST(JointPrices, PricesMemoryThatLacks) {
  const std::vector<uint8_t> graph = testing::test_graph("llama8b_L2_8x8_einsum");
  const CompileOptions options{.mesh = "dp=8,tp=8"};
  Monitor monitor;
  const auto model = PreparedModel::create(graph, options, monitor);
  ASSERT_TRUE(model.ok());
  const auto question = ConstrainedModel::create(**model, options, monitor);
  ASSERT_TRUE(question.ok());
  const auto placed = place(*question, {}, monitor);
  ASSERT_TRUE(placed.ok());
  const JointPrices joint(*question);
  const double peak = (*model)->memory().peak(placed->choice).bytes;
  EXPECT_EQ(joint.bound(peak, placed->choice).us_per_byte, 0);
  EXPECT_GT(joint.bound(peak / 3, placed->choice).us_per_byte, 0);
  EXPECT_GT(joint.bound(peak / 3, placed->choice).us, joint.bound(peak, placed->choice).us);
}

}  // namespace
}  // namespace shw
