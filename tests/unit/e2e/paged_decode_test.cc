// Decoding with paged keys and values, on virtual ranks.
#include "paged_decode.h"

#include <gtest/gtest.h>

#include "run_plan.h"
#include "tiny_model.h"

namespace shw {
namespace {

using testing::PagedDecode;
using DecodePins = std::vector<std::pair<std::string, std::string>>;

// Heads are sharded over one mesh dim and sequences over another. %s0 and %s1 are the attention.
const DecodePins kHeadsCut = {{"buffer.keys.*", "S(2)"}, {"buffer.values.*", "S(2)"}},
                 kBothCut = {{"s0", "S(0)S(1)"},
                             {"s1", "S(0)S(1)"},
                             {"buffer.keys.*", "RS(2)"},
                             {"buffer.values.*", "RS(2)"}};

struct DecodeCase {
  const char* mesh;
  DecodePins pins;
};

class PagedDecoding : public ::testing::TestWithParam<DecodeCase> {
 protected:
  static std::shared_ptr<const Plan> plan_of(const PagedDecode& model) {
    CompileOptions options;
    options.mesh = GetParam().mesh;
    options.pins = GetParam().pins;
    return testing::planned(model.graph(), options);
  }
};
INSTANTIATE_TEST_SUITE_P(Meshes, PagedDecoding,
                         ::testing::Values(DecodeCase{"a=1", {}}, DecodeCase{"a=2,b=2", {}},
                                           DecodeCase{"tp=2", kHeadsCut},
                                           DecodeCase{"dp=2,tp=2", kBothCut}),
                         [](const auto& c) { return testing::test_name(c.param.mesh); });

TEST_P(PagedDecoding, IsTheWholeForwardPass) {
  for (const char* window : {"", ", window_left=4"}) {
    SCOPED_TRACE(window);
    const PagedDecode model{.window = window};
    const auto plan = plan_of(model);
    ASSERT_NE(plan, nullptr);
    const auto ranks = testing::ranks_of(plan);
    ASSERT_NE(ranks, nullptr);
    model.expect_same(*ranks);
  }
}

TEST_P(PagedDecoding, AppendsInPlace) {
  const auto plan = plan_of({});
  ASSERT_NE(plan, nullptr);
  const Program& p = plan->program;
  int appended = 0;
  for (const ProgramStep& step : p.steps) {
    if (step.kernel != "index_put") continue;
    ++appended;
    EXPECT_EQ(p.values[step.inputs[0]].storage, p.values[step.outputs[0]].storage);
    EXPECT_EQ(p.storages[p.values[step.outputs[0]].storage].kind, StorageKind::kState);
  }
  EXPECT_EQ(appended, 4) << "keys and values of two layers";
}

// Each rank computes the attention of its own sequences and heads, with pages of its own key heads.
TEST(PagedDecodingPieces, AreSequencesAndHeads) {
  CompileOptions options;
  options.mesh = "dp=2,tp=2";
  options.pins = kBothCut;
  const auto plan = testing::planned(PagedDecode{}.graph(), options);
  ASSERT_NE(plan, nullptr);
  int attended = 0;
  for (const ProgramStep& step : plan->program.steps) {
    if (step.kernel != "sdpa_paged") continue;
    ++attended;
    const Dims want[] = {{2, 2, 1, 8}, {19, 4, 1, 8}, {19, 4, 1, 8}, {2, 4}, {2}};
    for (size_t i = 0; i < 5; ++i)
      EXPECT_EQ(plan->program.values[step.inputs[i]].type.shape, want[i]) << i;
  }
  EXPECT_EQ(attended, 2);
}

TEST_P(PagedDecoding, APageThatThereIsNotIsRefused) {
  const PagedDecode model;
  const auto plan = plan_of(model);
  ASSERT_NE(plan, nullptr);
  const auto ranks = testing::ranks_of(plan);
  ASSERT_NE(ranks, nullptr);
  model.expect_refused(*ranks);
  ranks->reset();
  model.expect_same(*ranks);
}

}  // namespace
}  // namespace shw
