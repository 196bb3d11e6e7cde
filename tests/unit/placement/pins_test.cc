// How users name nodes and layouts, and what a plan does with it.
#include "placement/pins.h"

#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "packed.h"

namespace shw {
namespace {

constexpr const char* kGraph = R"(
input param.wq: %wq : f32[64,64]
input param.wk: %wk : f32[64,64]
input input.0: %x : f32[32,64]
%q = mm(%x, %wq) : f32[32,64] {module="layers.0.attention.wq"}
%k = mm(%x, %wk) : f32[32,64] {module="layers.0.attention.wk"}
%s = add(%q, %k) : f32[32,64] {module="layers.0.attention"}
%r = relu(%s) : f32[32,64] {module="layers.10.mlp"}
return output.0 = %r
)";

Graph sample() {
  auto g = parse_graph(kGraph);
  EXPECT_TRUE(g.ok()) << g.status().message();
  return std::move(*g);
}

std::string matches(const std::string& pattern) {
  const Graph g = sample();
  const auto parsed = NodePattern::parse(pattern);
  if (!parsed.ok()) return parsed.status().message();
  std::string names;
  for (NodeId n : parsed->nodes(g)) names += (names.empty() ? "" : " ") + g.name(n);
  return names;
}

TEST(NodePattern, MatchesNamesModulesAndOps) {
  EXPECT_EQ(matches("q"), "q");
  EXPECT_EQ(matches("param.w*"), "wq wk");
  EXPECT_EQ(matches("output*"), "r");
  EXPECT_EQ(matches("module:layers.0"), "q k s") << "with the modules inside";
  EXPECT_EQ(matches("module:layers.1"), "") << "not layers.10";
  EXPECT_EQ(matches("module:layers.*.attention"), "q k s");
  EXPECT_EQ(matches("op:mm"), "q k");
  EXPECT_EQ(matches("module:layers.*&op:relu"), "r");
  EXPECT_EQ(matches("op:mm&k"), "k");
  EXPECT_NE(matches("op:").find("a term is empty"), std::string::npos);
  EXPECT_NE(matches("q&").find("a term is empty"), std::string::npos);
}

bool allows(const std::string& rule, const std::string& layout) {
  const auto parsed = LayoutRule::parse(rule, 2);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed->allows(*parse_layout(layout, 2));
}

TEST(LayoutRule, SaysOneSeveralOrNone) {
  EXPECT_TRUE(allows("S(0)R", "S(0)R"));
  EXPECT_FALSE(allows("S(0)R", "RS(0)"));
  EXPECT_TRUE(allows("S(0)R;RS(0)", "RS(0)"));
  EXPECT_FALSE(allows("!S(0)R;RS(0)", "RS(0)"));
  EXPECT_TRUE(allows("!S(0)R;RS(0)", "RR"));
  EXPECT_TRUE(allows("same", "RR"));
}

TEST(LayoutRule, TakesStarsForWhatLiesAlongOneMeshDim) {
  EXPECT_TRUE(allows("S(0)*", "S(0)S(1)"));
  EXPECT_FALSE(allows("S(0)*", "RS(0)"));
  EXPECT_TRUE(allows("*P", "S(0)P"));
  EXPECT_TRUE(allows("SS(0,4)*", "SS(0,4)R"));
  EXPECT_FALSE(allows("!*P;P*", "PR"));
  EXPECT_TRUE(allows("P(avg)*", "P(avg)S(0)"));
  EXPECT_FALSE(LayoutRule::parse("S(0)", 2).ok());
  EXPECT_FALSE(LayoutRule::parse("***", 2).ok());
  EXPECT_FALSE(LayoutRule::parse("", 2).ok());
  EXPECT_FALSE(LayoutRule::parse("S(0)R;", 2).ok());
}

TEST(LayoutRule, AsksForAnOrderWhereOneIsWritten) {
  EXPECT_TRUE(allows("S(0)S(0)", "S(0)S(0)|1,0"));
  EXPECT_TRUE(allows("S(0)S(0)|1,0", "S(0)S(0)|1,0"));
  EXPECT_FALSE(allows("S(0)S(0)|1,0", "S(0)S(0)"));
}

// The layouts of a plan, such as "q: S(0)R", or the error.
Result<std::vector<std::string>> planned(
    std::vector<std::pair<std::string, std::string>> pins,
    ParameterBudget::Kind budget = ParameterBudget::Kind::kNone,
    std::vector<std::string> without = {}) {
  Monitor monitor;
  CompileOptions options{.mesh = "dp=2,tp=4"};
  options.without = std::move(without);
  options.pins = std::move(pins);
  options.parameter_budget.kind = budget;
  SHW_ASSIGN_OR_RETURN(const Compiled c,
                       testing::compile_packed(write_graph(sample()), options, monitor));
  EXPECT_TRUE(c.plan.summary.proven);
  std::vector<std::string> layouts;
  for (const NodeDecision& d : c.plan.summary.decisions)
    layouts.push_back(d.name + ": " + d.result_layout);
  return layouts;
}

std::string layout_of(const std::vector<std::string>& layouts, const std::string& node) {
  for (const std::string& l : layouts)
    if (l.starts_with(node + ": ")) return l.substr(node.size() + 2);
  return "";
}

TEST(Pins, AllowForbidAndTie) {
  const auto free = planned({});
  ASSERT_TRUE(free.ok()) << free.status().message();
  const std::string was = layout_of(*free, "q");
  const auto forbidden = planned({{"q", "!" + was}});
  ASSERT_TRUE(forbidden.ok()) << forbidden.status().message();
  EXPECT_NE(layout_of(*forbidden, "q"), was);

  const auto either = planned({{"module:layers.0&op:mm", "S(1)*;*S(1)"}});
  ASSERT_TRUE(either.ok()) << either.status().message();
  for (const char* node : {"q", "k"})
    EXPECT_NE(layout_of(*either, node).find("S(1)"), std::string::npos);

  const auto tied = planned({{"q", "RS(1)"}, {"op:mm", "same"}});
  ASSERT_TRUE(tied.ok()) << tied.status().message();
  EXPECT_EQ(layout_of(*tied, "k"), "RS(1)");
}

TEST(Pins, SayWhyANodeCannot) {
  const auto bad = planned({{"q", "S(0)S(2)"}});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(bad.status().node_name(), "q");
  EXPECT_NE(bad.status().message().find("cannot have layout S(0)S(2) on mesh dp=2,tp=4 (pin "
                                        "'q=S(0)S(2)'): there is no dim 2 in a tensor of 2 dims"),
            std::string::npos)
      << bad.status().message();
}

// The message names the pins in conflict and no others. Without any one of them there is a plan.
void expect_conflict(const std::vector<std::pair<std::string, std::string>>& pins,
                     const std::vector<size_t>& in_conflict, ParameterBudget::Kind budget) {
  const auto all = planned(pins, budget);
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.status().code(), Code::kFailedPrecondition);
  for (size_t i = 0; i < pins.size(); ++i) {
    const bool named = all.status().message().find("'" + pins[i].first + "=" + pins[i].second +
                                                   "'") != std::string::npos;
    const bool wanted = std::find(in_conflict.begin(), in_conflict.end(), i) != in_conflict.end();
    EXPECT_EQ(named, wanted) << pins[i].first << " in " << all.status().message();
    if (!wanted) continue;
    auto fewer = pins;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    EXPECT_TRUE(planned(fewer, budget).ok()) << "without " << pins[i].first;
  }
}

TEST(Conflicts, NameThePinsThatCannotHoldTogether) {
  expect_conflict({{"s", "RR"},
                   {"q", "RS(1)"},
                   {"param.wq", "RS(1)"},
                   {"k", "S(0)R"},
                   {"op:mm", "same"},
                   {"r", "S(0)*"}},
                  {1, 3, 4}, ParameterBudget::Kind::kNone);
  expect_conflict({{"x", "RR"}, {"q", "RS(1)"}, {"op:mm", "!*S(1)"}}, {1, 2},
                  ParameterBudget::Kind::kNone);
}

TEST(Conflicts, NameTheParameterBudgetToo) {
  const std::vector<std::pair<std::string, std::string>> pins = {{"x", "RR"},
                                                                 {"param.wk", "!S(0)*;S(1)*"}};
  expect_conflict(pins, {1}, ParameterBudget::Kind::kSmallest);
  const auto all = planned(pins, ParameterBudget::Kind::kSmallest);
  EXPECT_NE(all.status().message().find("every parameter at its smallest share"), std::string::npos)
      << all.status().message();
}

// Each constraint in the report can be left out by the name in the report, and then there is a
// plan.
TEST(Conflicts, EndWhenAnyOfThemIsLeftOutByItsName) {
  const std::vector<std::pair<std::string, std::string>> pins = {{"x", "RR"},
                                                                 {"param.wk", "!S(0)*;S(1)*"}};
  constexpr auto kBudget = ParameterBudget::Kind::kSmallest;
  const std::string budget = "every parameter at its smallest share";
  EXPECT_TRUE(planned(pins, kBudget, {budget}).ok());
  EXPECT_TRUE(planned(pins, kBudget, {"pin 'param.wk=!S(0)*;S(1)*'"}).ok());
  EXPECT_TRUE(planned(pins, kBudget, {"every parameter*"}).ok());
  EXPECT_EQ(planned(pins, kBudget, {"pin 'x=RR'"}).status().code(), Code::kFailedPrecondition);
  const auto unknown = planned(pins, kBudget, {"pin 'y=RR'"});
  EXPECT_EQ(unknown.status().code(), Code::kInvalidArgument);
  EXPECT_NE(unknown.status().message().find("pin 'x=RR'; pin 'param.wk"), std::string::npos)
      << unknown.status().message();
}

}  // namespace
}  // namespace shw
