// Nodes that state their own layouts: manual regions (local_map) and sharding constraints.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "compare.h"
#include "compiler/pipeline.h"
#include "decision.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "import/safetensors.h"
#include "packed.h"
#include "run_plan.h"
#include "runtime/virtual_ranks.h"
#include "tools/execute.h"

namespace shw {
namespace {

using testing::decision_on;

Result<Compiled> compiled(const std::string& text, const std::string& mesh) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  Monitor monitor;
  CompileOptions options{.mesh = mesh};
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;  // parameters: any layout
  return testing::compile_packed(write_graph(*graph), options, monitor);
}

std::string refusal(const std::string& text, const std::string& mesh) {
  const auto c = compiled(text, mesh);
  return c.ok() ? "" : c.status().node_name() + ": " + c.status().message();
}

// Routed experts. The tokens are sharded by dp, the region exchanges them itself, and it passes a
// saved activation to its backward region.
std::string experts(const std::string& ins, const std::string& outs,
                    const std::string& saved = "i64[8]") {
  return R"swt(
input param.w: %w : f32[4,64,64]
input input.0: %x : f32[32,16,64]
%r = relu(%x) : f32[32,16,64]
%m = local_map(%r, %w, region="experts", in_placements=")swt" +
         ins + R"swt(", out_placements=")swt" + outs + R"swt(", result_types="f32[32,16,64]; )swt" +
         saved + R"swt(") : (f32[32,16,64], i64[8])
%y = get_item(%m, index=0) : f32[32,16,64]
%saved = get_item(%m, index=1) : i64[8]
%b = local_map(%saved, %y, region="experts.backward", in_placements="S(0)R", out_placements="RS(0)", result_types="f32[4,64,64]") : f32[4,64,64] {phase=backward}
return output.0 = %y, grad.w = %b
)swt";
}

TEST(LocalMap, HasOneStrategyTheDeclaredOne) {
  const auto c = compiled(experts("S(0)R; RS(0)", "S(0)R"), "dp=2,ep=4");
  ASSERT_TRUE(c.ok()) << c.status().message();
  EXPECT_TRUE(c->plan.summary.proven);
  EXPECT_EQ(decision_on(c->plan, "m").operand_layouts, "S(0)R, RS(0)");
  EXPECT_EQ(decision_on(c->plan, "m").result_layout, "(S(0)R, RR)");  // saved: replicated
  EXPECT_EQ(decision_on(c->plan, "b").operand_layouts, "RR, S(0)R");
  EXPECT_EQ(decision_on(c->plan, "b").result_layout, "RS(0)");
  EXPECT_EQ(c->plan.summary.comm_us, 0) << "inputs and outputs lie where the regions want them";
  EXPECT_TRUE(testing::num_collectives(*c).empty());
}

TEST(LocalMap, IsReachedThroughCollectives) {
  std::string text = experts("S(0)S(1); RS(0)", "S(0)R");
  text.replace(text.find("output.0 = %y"), 13, "output.0 = %z");
  text.insert(text.find("%saved ="),
              "%z = sharding_constraint(%y, placements=\"RR\") : f32[32,16,64]\n");
  const auto c = compiled(text, "dp=2,ep=4");
  ASSERT_TRUE(c.ok()) << c.status().message();
  EXPECT_GT(c->plan.summary.comm_us, 0);
  EXPECT_EQ(testing::num_collectives(*c),
            (std::map<CollectiveKind, int>{{CollectiveKind::kAllGather, 1}}));
}

TEST(LocalMap, WithoutABodyIsRefusedWhenRanksAreMade) {
  const auto c = compiled(experts("S(0)R; RS(0)", "S(0)R"), "dp=2,ep=4");
  ASSERT_TRUE(c.ok()) << c.status().message();
  auto plan = read_plan(c->bytes);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(write_plan(*plan), c->bytes);
  const auto ranks = runtime::VirtualRanks::create(std::make_shared<const Plan>(std::move(*plan)));
  ASSERT_FALSE(ranks.ok());
  EXPECT_EQ(ranks.status().code(), Code::kUnimplemented);
  EXPECT_NE(ranks.status().message().find("'experts' has no body"), std::string::npos)
      << ranks.status().message();
}

TEST(LocalMap, RefusesDeclarationsThatDoNotFit) {
  const std::string ins = "S(0)R; RS(0)", outs = "S(0)R", mesh = "dp=2,ep=4";
  EXPECT_EQ(refusal(experts(ins, outs), mesh), "");
  EXPECT_EQ(refusal(experts("S(0)R; RS(3)", outs), mesh),
            "m: local_map: in_placements[1]: 'RS(3)' cuts dim 3 of f32[4,64,64]");
  EXPECT_EQ(refusal(experts("S(0)R; RS(0); RR", outs), mesh),
            "m: local_map: in_placements names 3 layouts for 2 operands");
  EXPECT_EQ(refusal(experts("S(0)R", "RR; RR; RR"), mesh),
            "m: local_map: out_placements names 3 layouts for 2 results");
  EXPECT_EQ(refusal(experts("S(0)X; RR", "RR"), mesh),
            "m: local_map: in_placements[0]: 'S(0)X' is no layout: write one of R, S(dim), P, "
            "P(avg|max|min|product) for each mesh dim, such as S(0)R");
  EXPECT_EQ(refusal(experts(ins, "S(0)"), mesh),
            "m: local_map: out_placements[0]: 'S(0)' is for another number of mesh dims than the "
            "layouts before it");
  EXPECT_EQ(refusal(experts("S(0)R; -", outs), mesh),
            "m: local_map: in_placements[1]: there is a tensor, f32[4,64,64], and no layout");
  EXPECT_EQ(refusal(experts("S(0)S(0)|1,0; RR", outs), mesh),
            "m: local_map: in_placements[0]: 'S(0)S(0)|1,0': a stated layout is cut in the order "
            "of the mesh");
  for (const char* other : {"M", "SS(0,2)"})
    EXPECT_EQ(refusal(experts("S(0)R; R" + std::string(other), outs), mesh),
              "m: local_map: in_placements[1]: 'R" + std::string(other) +
                  "': a stated layout has neither strided shards nor masked partials");
  EXPECT_EQ(refusal(experts(ins, outs, "i64[8,]"), mesh),
            "m: local_map: 'i64[8,]' is no type such as f32[4,8]");
}

TEST(LocalMap, RefusesDeclarationsThatTheMeshDoesNotBear) {
  const std::string ins = "S(0)R; RS(0)", outs = "S(0)R";
  EXPECT_EQ(refusal(experts(ins, outs), "dp=8"),
            "m: in_placements[0]: 'S(0)R' does not have one placement for each dim of the "
            "mesh dp=8");
  EXPECT_EQ(refusal(experts(ins, outs), "dp=2,ep=8"),
            "m: in_placements[1]: 'RS(0)' does not cut f32[4,64,64] on the mesh dp=2,ep=8: not "
            "every rank gets an element");
  EXPECT_EQ(refusal(experts(ins, outs), "dp=5,ep=2"),
            "m: in_placements[0]: 'S(0)R' does not cut f32[32,16,64] evenly on the mesh dp=5,ep=2");
  EXPECT_EQ(refusal(experts("PR; RS(0)", outs), "dp=2,ep=4"),
            "m: operand 0 must be PR, but 'r' never produces this partial on mesh dim 'dp'");
}

TEST(LocalMap, TakesAPartialOperandFromWhoLeavesOne) {
  const std::string text = R"swt(
input input.0: %x : f32[8,16]
input input.1: %w : f32[16,8]
%a = mm(%x, %w) : f32[8,8]
%m = local_map(%a, region="r", in_placements="P", out_placements="P", result_types="f32[8,8]") : f32[8,8]
return output.0 = %m
)swt";
  const auto c = compiled(text, "tp=4");
  ASSERT_TRUE(c.ok()) << c.status().message();
  EXPECT_EQ(decision_on(c->plan, "a").operand_layouts, "S(1), S(0)");
  EXPECT_EQ(decision_on(c->plan, "m").operand_layouts, "P");
  EXPECT_EQ(decision_on(c->plan, "m").result_layout, "P");
}

TEST(ShardingConstraint, PinsALayoutAndChangesNoNumber) {
  const std::string text = R"swt(
input input.0: %x : f32[12,8]
input input.1: %w : f32[8,8]
%a = mm(%x, %w) : f32[12,8]
%c = sharding_constraint(%a, placements="S(0)S(1)") : f32[12,8]
%d = exp(%c) : f32[12,8]
return output.0 = %d
)swt";
  const auto c = compiled(text, "a=2,b=2"),
             one = compiled(std::string(text).replace(text.find("S(0)S(1)"), 8, "R"), "one=1");
  ASSERT_TRUE(c.ok() && one.ok()) << c.status().message() << one.status().message();
  EXPECT_EQ(decision_on(c->plan, "c").result_layout, "S(0)S(1)");
  import::TensorFile inputs;
  for (const auto& [name, shape] :
       {std::pair("input.0", Dims{12, 8}), std::pair("input.1", Dims{8, 8})}) {
    import::StoredTensor& t = inputs[name];
    t.type = row_major(Dtype::kF32, shape);
    t.bytes.resize(static_cast<size_t>(t.type.bytes()));
    for (int64_t i = 0; i < t.type.numel(); ++i) {
      const float v = 0.01f * static_cast<float>(i % 17);
      std::memcpy(t.bytes.data() + i * 4, &v, 4);
    }
  }
  const auto run = [&](const Compiled& compiled) {
    return tools::execute(std::make_shared<const Plan>(*read_plan(compiled.bytes)), "step", inputs);
  };
  const auto sharded = run(*c), whole = run(*one);
  ASSERT_TRUE(sharded.ok() && whole.ok()) << sharded.status().message();
  const auto compared = testing::compare(*sharded, *whole, 1e-6);
  EXPECT_EQ(compared.num_compared, 1u);
  EXPECT_EQ(compared.num_bad, 0u);
}

}  // namespace
}  // namespace shw
