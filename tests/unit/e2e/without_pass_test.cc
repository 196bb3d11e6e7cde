// Runs tiny models without each of the optional passes in turn. Other plans of this suite run
// without one of them (run_plan.h).
#include "without_pass.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/text.h"
#include "graph/writer.h"
#include "passes/pass.h"
#include "run_plan.h"
#include "split_graphs.h"
#include "tiny_model.h"

namespace shw {
namespace {

using testing::kNumOptionalPasses;
using testing::LeftOut;
using testing::name_of;
using testing::OptionalPass;

// Contains equal steps, a step with an unused result, and a gathered value that is gathered again.
constexpr const char* kPlain = R"swt(
input param.w: %w : f32[16,24]
input input.0: %x : f32[16,24]
%ws = sharding_constraint(%w, placements="S(0)S(0)") : f32[16,24]
%half = sharding_constraint(%ws, placements="S(0)R") : f32[16,24]
%all = sharding_constraint(%half, placements="RR") : f32[16,24]
%n = neg(%half) : f32[16,24]
%a = tanh(%x) : f32[16,24]
%b = tanh(%x) : f32[16,24]
%unused = exp(%x) : f32[16,24]
%c = mul(%a, %b) : f32[16,24]
%y = add(%c, %all) : f32[16,24]
return output.0 = %y, output.1 = %n
)swt";

std::vector<uint8_t> graph_of(const char* text) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return write_graph(*graph);
}

// Leaving out a pass that changes no program would test nothing.
TEST(WithoutAPass, GivesTheSameBitsAndEachPassChangesAProgram) {
  struct Case {
    std::vector<uint8_t> graph;
    const char* mesh;
  };
  std::vector<Case> cases = {{graph_of(testing::kSequences), "dp=2,tp=2"},
                             {graph_of(testing::kRows), "tp=4"},
                             {graph_of(kPlain), "dp=2,tp=2"}};
  for (const auto* model : {&testing::llama_tiny(), &testing::gpt2_tiny()})
    for (const char* mesh : {"one=1", "dp=2,tp=4", "dp=8"})
      cases.push_back({model->graph_bytes(), mesh});
  std::set<OptionalPass> acted;
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    CompileOptions options{.mesh = cases[i].mesh};
    options.parameter_budget.kind = ParameterBudget::Kind::kNone;
    options.optimizer_factor = 1;  // otherwise the graph's equal nodes are merged earlier
    const auto solved = testing::solve(cases[i].graph, options);
    ASSERT_TRUE(solved.has_value());
    const auto plan = testing::plan_of(*solved, options);
    ASSERT_NE(plan, nullptr);
    acted.merge(testing::expect_same_without(*solved, plan, LeftOut::kEach));
  }
  for (uint32_t i = 0; i < kNumOptionalPasses; ++i)
    EXPECT_TRUE(acted.contains(OptionalPass{static_cast<uint8_t>(i)}))
        << name_of(OptionalPass{static_cast<uint8_t>(i)}) << " changed nothing";
}

// Fails when a new pass is not among the optional passes.
TEST(WithoutAPass, EveryPassIsThere) {
  for (const PassDef* pass : default_passes()) {
    const bool is_optional = pass != &kPlanMemory;  // without it, there is no program: see kPacking
    bool found = false;
    for (uint32_t i = 0; i < kNumOptionalPasses; ++i)
      found |= pass->name == name_of(OptionalPass{static_cast<uint8_t>(i)});
    EXPECT_EQ(found, is_optional) << pass->name;
  }
}

}  // namespace
}  // namespace shw
