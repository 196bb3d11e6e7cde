// Layouts of inputs and outputs: stated for all of them, stated for each, or left to the planner.
#include <gtest/gtest.h>

#include <map>

#include "compiler/pipeline.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "packed.h"

namespace shw {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kSample = R"(
input input.0: %x : f32[64,32]
input input.1: %b : f32[64,32]
input param.w: %w : f32[32,32]
input tangent.0: %t : f32[64,32]
%m = mm(%x, %w) : f32[64,32]
%y = add(%m, %b) : f32[64,32]
%n = neg(%m) : f32[64,32]
%xt = permute(%x, dims=[1,0]) : f32[32,64] {phase=backward}
%g = mm(%xt, %t) : f32[32,32] {phase=backward}
return output.0 = %y, output.1 = %n, grad.w = %g
)";

class Boundary : public ::testing::Test {
 protected:
  Boundary() {
    options_.mesh = "dp=2,tp=4";
    options_.parameter_budget.kind = ParameterBudget::Kind::kNone;
    const auto graph = parse_graph(kSample);
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    graph_ = write_graph(*graph);
  }

  Result<Compiled> planned() { return testing::compile_packed(graph_, options_, monitor_); }

  // Layouts by name: "input.0" → "S(0)R".
  std::map<std::string, std::string> layouts() {
    const auto compiled = planned();
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    std::map<std::string, std::string> layouts;
    if (!compiled.ok()) return layouts;
    objective_us_ = compiled->plan.summary.objective_us;
    for (const Port& port : compiled->plan.program.ports)
      layouts[port.name] = to_string(port.layout, 2);
    return layouts;
  }

  void expect_refused(Code code, const std::string& says) {
    const auto compiled = planned();
    ASSERT_FALSE(compiled.ok());
    EXPECT_EQ(compiled.status().code(), code);
    EXPECT_NE(compiled.status().message().find(says), std::string::npos)
        << compiled.status().message();
  }

  std::vector<uint8_t> graph_;
  CompileOptions options_;
  Monitor monitor_;
  double objective_us_ = 0;
};

TEST_F(Boundary, OfAllThatAreNotNamed) {
  options_.input_layout = "S(0)R";
  options_.inputs = {{"input.1", "RS(1)"}};
  options_.output_layout = "RS(1)";
  options_.outputs = {{"output.1", "S(0)S(0)"}};
  const auto l = layouts();
  EXPECT_EQ(l.at("input.0"), "S(0)R");
  EXPECT_EQ(l.at("input.1"), "RS(1)");
  EXPECT_EQ(l.at("output"), "RS(1)");
  EXPECT_EQ(l.at("output.1"), "S(0)S(0)");
}

TEST_F(Boundary, TheLastThatMatchesCounts) {
  options_.inputs = {{"*", "RR"}, {"input.?", "S(1)R"}, {"input.0", "RS(0)"}};
  const auto l = layouts();
  EXPECT_EQ(l.at("input.0"), "RS(0)");
  EXPECT_EQ(l.at("input.1"), "S(1)R");
  EXPECT_EQ(l.at("param.w"), "RR");
  EXPECT_EQ(l.at("tangent.0"), "RR");
}

// An entry that is explicitly free costs the same as one that was never mentioned.
TEST_F(Boundary, AnEntryCanBeFree) {
  options_.inputs = {{"input.0", "RS(1)"}};
  const auto wanted = layouts();
  const double with_one = objective_us_;
  options_.input_layout = "RR";
  options_.inputs = {{"input.0", "RS(1)"}, {"input.1", "free"}};
  EXPECT_EQ(layouts(), wanted);
  EXPECT_EQ(objective_us_, with_one);
  options_.inputs = {{"input.0", "RS(1)"}};
  EXPECT_EQ(layouts().at("input.1"), "RR");
  EXPECT_GT(objective_us_, with_one);
  options_.inputs.clear();
  options_.input_layout = "free";
  layouts();
  const double free = objective_us_;
  options_.input_layout.clear();
  layouts();
  EXPECT_EQ(objective_us_, free);
}

TEST_F(Boundary, ANameThatIsNoneIsRefusedWithTheNearest) {
  options_.inputs = {{"input.2", "RR"}};
  expect_refused(Code::kInvalidArgument,
                 "input 'input.2=RR': there is no input 'input.2'; did you mean input.0, input.1");
  options_.inputs.clear();
  options_.outputs = {{"grad.v", "free"}};
  expect_refused(Code::kInvalidArgument, "there is no output 'grad.v'; did you mean grad.w?");
  options_.outputs = {{"output", ""}};
  expect_refused(Code::kInvalidArgument, "expected a layout such as S(0)R, or free");
  options_.outputs = {{"output", "P(sum)R"}};
  expect_refused(Code::kInvalidArgument, "cannot be partial");
}

TEST_F(Boundary, WhatATensorCannotBeIsRefused) {
  options_.inputs = {{"param.w", "S(2)R"}};
  expect_refused(Code::kInvalidArgument,
                 "(input 'param.w=S(2)R'): there is no dim 2 in a tensor of 2 dims");
}

TEST_F(Boundary, ConflictsNameTheEntryAndGoWithIt) {
  options_.inputs = {{"param.w", "S(0)R"}, {"input.0", "RR"}};
  options_.outputs = {{"grad.w", "RS(0)"}, {"output.1", "RR"}};
  const auto model = PreparedModel::create(graph_, options_, monitor_);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto refused = testing::compile_packed(**model, options_, monitor_);
  EXPECT_EQ(refused.status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(
      refused.status().message(),
      "no placement satisfies these constraints together, though leaving out any one of them "
      "helps: input 'param.w=S(0)R'; output 'grad.w=RS(0)'; gradients have the layouts of their "
      "parameters");
  CompileOptions fewer = options_;
  fewer.without = {"output 'grad.w=RS(0)'"};
  const auto left_out = testing::compile_packed(**model, fewer, monitor_);
  ASSERT_TRUE(left_out.ok()) << left_out.status().message();
  CompileOptions freed = options_;
  freed.outputs.push_back({"grad.w", "free"});
  const auto free = testing::compile_packed(**model, freed, monitor_);
  ASSERT_TRUE(free.ok()) << free.status().message();
  EXPECT_EQ(free->plan.summary.objective_us, left_out->plan.summary.objective_us);
  EXPECT_FALSE(testing::compile_packed(**model, options_, monitor_).ok());  // unchanged
}

// As with pins, a parameter with a stated layout does not count in the budget.
TEST_F(Boundary, ParametersThatAreNamedDoNotCountInTheBudget) {
  options_.parameter_budget.kind = ParameterBudget::Kind::kSmallest;
  options_.inputs = {{"param.w", "RR"}};
  EXPECT_EQ(layouts().at("param.w"), "RR");
}

}  // namespace
}  // namespace shw
