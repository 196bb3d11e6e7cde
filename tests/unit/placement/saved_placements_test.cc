// Saved placements reproduce the same plan, as a whole or in part. Placements that do not fit are
// refused by name.
#include "placement/saved_placements.h"

#include <gtest/gtest.h>

#include "packed.h"
#include "plan/placements.h"
#include "unit/answers/planned.h"

namespace shw {
namespace {

using answers::testing::Case;
using answers::testing::kCases;

class SavedPlacements : public ::testing::TestWithParam<Case> {};

TEST_P(SavedPlacements, BringTheSamePlanBack) {
  const auto model = answers::testing::model_of(GetParam());
  CompileOptions options = answers::testing::options_of(GetParam());
  Monitor monitor;
  const auto plan = testing::compile_packed(*model, options, monitor);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  options.placements = placements_json(plan->plan);
  const auto again = testing::compile_packed(*model, options, monitor);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->plan.summary.objective_us, plan->plan.summary.objective_us);
  EXPECT_EQ(placements_json(again->plan), options.placements);
  EXPECT_NE(again->plan.summary.options_hash, plan->plan.summary.options_hash);
}

// Pinned layouts stay although the pin is gone. The plan cannot be cheaper than the free one.
TEST_P(SavedPlacements, HoldWithoutThePinsThatMadeThem) {
  const auto model = answers::testing::model_of(GetParam());
  CompileOptions options = answers::testing::options_of(GetParam());
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  Monitor monitor;
  const auto free = testing::compile_packed(*model, options, monitor);
  const std::string node = model->graph().name(model->graph().inputs()[0].node);
  const std::string layout(model->mesh().rank() == 1 ? "S(1)" : "S(1)R");
  options.pins.emplace_back(node, layout);
  const auto pinned = testing::compile_packed(*model, options, monitor);
  ASSERT_TRUE(free.ok() && pinned.ok());
  options.pins.clear();
  options.placements = placements_json(pinned->plan);
  const auto again = testing::compile_packed(*model, options, monitor);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->plan.summary.decisions[0].result_layout, layout);
  EXPECT_GE(again->plan.summary.objective_us, free->plan.summary.objective_us);
}

INSTANTIATE_TEST_SUITE_P(Graphs, SavedPlacements, ::testing::ValuesIn(kCases),
                         [](const auto& c) { return name_of(c.param); });

TEST(SavedPlacementsText, IsRefusedWhereItDoesNotFit) {
  const auto model = answers::testing::model_of(kCases[0]);
  const auto read = [&](const std::string& text) {
    return read_placements(text, model->graph(), model->mesh(), model->strategies()).status();
  };
  const std::string head = R"j({"version": 1, "mesh": {"shape": [8], "dim_names": ["dp"]}, )j";
  const std::string input = R"j({"name": "primals_1", "output": "S(0)", "inputs": []})j";
  EXPECT_TRUE(read(head + "\"nodes\": [" + input + "]}").ok());
  const std::pair<std::string, const char*> bad[] = {
      {"", "not JSON"},
      {"[]", "\"version\", a number"},
      {R"j({"version": 1})j", "\"mesh\", an object"},
      {R"j({"version": 1, "mesh": {"shape": [8], "dim_names": "dp"}})j", "\"dim_names\", an array"},
      {R"j({"version": 1, "mesh": {"shape": ["8"], "dim_names": ["dp"]}})j", "another mesh"},
      {R"j({"version": 1, "mesh": {"shape": [8, 8], "dim_names": ["a", "b"]}})j", "another mesh"},
      {head + R"j("nodes": {}})j", "\"nodes\", an array"},
      {head + R"j("nodes": [1]})j", "\"name\", a string"},
      {head + R"j("nodes": [{"name": "primals_1"}]})j", "\"output\", a string"},
      {head + R"j("nodes": [{"name": "primals_1", "output": "R"}]})j", "\"inputs\", an array"},
      {head + R"j("nodes": [{"name": "primals_1", "output": "R", "inputs": [1]}]})j", "strings"},
      {head + R"j("nodes": [{"name": "primals_1", "output": "S(", "inputs": []}]})j", "'S('"},
      {head + R"j("nodes": [{"name": "primals_1", "output": "R", "inputs": ["R"]}]})j",
       "no strategy"},
      {head + "\"nodes\": [" + input + ", " + input + "]}", "more often in the file"}};
  for (const auto& [text, says] : bad) {
    const Status status = read(text);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
    EXPECT_NE(status.message().find(says), std::string::npos) << status.message();
  }
  EXPECT_EQ(read(R"j({"version": 2})j").code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace shw
