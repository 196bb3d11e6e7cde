// Manual regions with bodies: routed experts on virtual ranks against one rank, forward and
// backward, what a body is told, and what a region costs.
#include <gtest/gtest.h>

#include <cstring>

#include "cost/redistribute.h"
#include "decision.h"
#include "region_bodies.h"

namespace shw {
namespace {

using testing::compiled_text;
using testing::region;
using View = testing::PieceView;

// Saves two factors by which the backward region scales.
void experts(std::span<const View> in, std::span<const View> out, int64_t) {
  testing::multiply_experts(in[0], in[1], out[0]);
  static_cast<float*>(out[1].data)[0] = 2;
  static_cast<float*>(out[1].data)[1] = 3;
}

// Computes a partial sum of 6 · x[e]ᵀ g[e]. The gradient dx is not needed.
void experts_backward(std::span<const View> in, std::span<const View> out, int64_t) {
  const auto* saved = static_cast<const float*>(in[0].data);
  testing::expert_gradients(in[1], in[2], out[1], saved[0] * saved[1]);
}

// Layouts of x[expert, token, width]: experts over `ep`, tokens over `dp`.
struct Placements {
  const char *tokens, *experts, *partial;
};
constexpr Placements kWhole = {"R", "R", "R"};
constexpr Placements k2D = {"S(1)S(0)", "RS(0)", "PS(0)"};
constexpr Placements k3D = {"S(1)S(0)S(0)", "RS(0)S(0)", "PS(0)S(0)"};
// The group of the experts is the whole mesh, with its dims combined.
constexpr Placements kAll = {"S(0)S(0)S(0)", "S(0)S(0)S(0)", "S(0)S(0)S(0)"};

std::string graph_text(const Placements& p, const std::string& flops = "") {
  const std::string t = p.tokens, e = p.experts, partial = p.partial;
  return R"(
input param.w: %w : f32[8,4,5]
input input.0: %x : f32[8,6,4]
input tangent.0: %g : f32[8,6,5] {phase=backward}
%r = relu(%x) : f32[8,6,4]
%m = local_map(%r, %w, region="experts", in_placements=")" +
         t + "; " + e + "\", out_placements=\"" + t + R"(", result_types="f32[8,6,5]; f32[2]")" +
         flops + R"() : (f32[8,6,5], f32[2])
%m0 = get_item(%m, index=0) : f32[8,6,5]
%y = sharding_constraint(%m0, placements=")" +
         t + R"(") : f32[8,6,5]
%saved = get_item(%m, index=1) : f32[2]
%gc = sharding_constraint(%g, placements=")" +
         t + R"(") : f32[8,6,5] {phase=backward}
%h = neg(%gc) : f32[8,6,5] {phase=backward}
%b = local_map(%saved, %r, %h, region="experts.backward", in_placements=")" +
         t + "; " + t + "\", out_placements=\"-; " + partial +
         R"(", result_types="-; f32[8,4,5]") : (none, f32[8,4,5]) {phase=backward}
%dw = get_item(%b, index=1) : f32[8,4,5] {phase=backward}
return output.0 = %y, grad.w = %dw
)";
}

std::vector<std::vector<std::byte>> results_of(const Compiled& c) {
  return testing::run_on_integers(
      c, {region("experts", experts), region("experts.backward", experts_backward)});
}

TEST(RegionBody, ExpertsOnVirtualRanksEqualOneRank) {
  const auto whole = results_of(compiled_text(graph_text(kWhole), {.mesh = "one=1"}));
  ASSERT_EQ(whole.size(), 2u);
  float y = 0;
  std::memcpy(&y, whole[0].data(), sizeof y);
  EXPECT_NE(y, 0);
  EXPECT_EQ(results_of(compiled_text(graph_text(k2D), {.mesh = "dp=2,ep=4"})), whole);
  EXPECT_EQ(results_of(compiled_text(graph_text(k2D), {.mesh = "dp=3,ep=2"})), whole);
  EXPECT_EQ(results_of(compiled_text(graph_text(k2D), {.mesh = "dp=1,ep=8"})), whole);
  EXPECT_EQ(results_of(compiled_text(graph_text(k3D), {.mesh = "dp=2,a=2,b=2"})), whole);
  const Compiled all = compiled_text(graph_text(kAll), {.mesh = "dp=2,cp=2,tp=2"});
  for (const ProgramStep& s : all.plan.program.steps)
    if (s.kernel == "local_map") {
      EXPECT_EQ(all.plan.program.values[s.inputs[1]].type.shape[0], 1) << "one of 8 on a rank";
    }
  EXPECT_EQ(results_of(all), whole);
}

// Attention without its softmax, so that results of small integers stay exact. Each query attends
// to the keys up to its own position in the sequence. The mesh dims cp and tp cut the queries, and
// this rank has one piece.
int64_t first_query(const View& q, const View& k, int64_t rank) {
  const int64_t pieces = k.size(1) / q.size(1);
  return rank % pieces * q.size(1);
}
float dot(const View& a, int64_t i, const View& b, int64_t j, int64_t batch) {
  float sum = 0;
  for (int64_t d = 0; d < a.size(2); ++d) sum += a.at(batch, i, d) * b.at(batch, j, d);
  return sum;
}
void add(float scale, const View& from, int64_t i, const View& to, int64_t j, int64_t batch) {
  for (int64_t d = 0; d < to.size(2); ++d) to.at(batch, j, d) += scale * from.at(batch, i, d);
}
// Calls f(batch, query, key) for this rank's queries and the keys that they attend to.
template <class F>
void for_attended(const View& q, const View& k, int64_t rank, F f) {
  const int64_t first = first_query(q, k, rank);
  for (int64_t b = 0; b < q.size(0); ++b)
    for (int64_t i = 0; i < q.size(1); ++i)
      for (int64_t j = 0; j <= first + i; ++j) f(b, i, j);
}
void clear(const View& v) { std::memset(v.data, 0, static_cast<size_t>(v.type->bytes())); }

void attention(std::span<const View> in, std::span<const View> out, int64_t rank) {
  const View &q = in[0], &k = in[1], &v = in[2], &y = out[0];
  clear(y);
  for_attended(q, k, rank,
               [&](int64_t b, int64_t i, int64_t j) { add(dot(q, i, k, j, b), v, j, y, i, b); });
}

void attention_backward(std::span<const View> in, std::span<const View> out, int64_t rank) {
  const View &g = in[0], &q = in[1], &k = in[2], &v = in[3];
  for (const View& gradient : out) clear(gradient);
  for_attended(q, k, rank, [&](int64_t b, int64_t i, int64_t j) {
    const float score = dot(g, i, v, j, b);
    add(score, k, j, out[0], i, b);
    add(score, q, i, out[1], j, b);
    add(dot(q, i, k, j, b), g, i, out[2], j, b);
  });
}

// Context parallelism. `tokens` is the layout of the queries, `context` that of keys and values.
// `partial` is the layout of the gradients of keys and values, to which the queries of every rank
// contribute.
std::string attention_text(const std::string& tokens, const std::string& context,
                           const std::string& partial) {
  const std::string ins = tokens + "; " + context + "; " + context;
  return R"(
input param.k: %k : f32[2,8,4]
input param.v: %v : f32[2,8,4]
input input.0: %q : f32[2,8,4]
input tangent.0: %g : f32[2,8,4] {phase=backward}
%y = local_map(%q, %k, %v, region="attention", in_placements=")" +
         ins + "\", out_placements=\"" + tokens + R"(", result_types="f32[2,8,4]") : f32[2,8,4]
%b = local_map(%g, %q, %k, %v, region="attention.backward", in_placements=")" +
         tokens + "; " + ins + "\", out_placements=\"" + tokens + "; " + partial + "; " + partial +
         R"(", result_types="f32[2,8,4]; f32[2,8,4]; f32[2,8,4]") : (f32[2,8,4], f32[2,8,4], f32[2,8,4]) {phase=backward}
%dq = get_item(%b, index=0) : f32[2,8,4] {phase=backward}
%dk = get_item(%b, index=1) : f32[2,8,4] {phase=backward}
%dv = get_item(%b, index=2) : f32[2,8,4] {phase=backward}
return output.0 = %y, output.1 = %dq, grad.k = %dk, grad.v = %dv
)";
}

TEST(RegionBody, ContextParallelAttentionLeavesPartialGradients) {
  const auto results = [](const Compiled& c) {
    return testing::run_on_integers(
        c, {region("attention", attention), region("attention.backward", attention_backward)});
  };
  const auto whole = results(compiled_text(attention_text("R", "R", "R"), {.mesh = "one=1"}));
  ASSERT_EQ(whole.size(), 4u);
  // Batches are sharded over dp, the sequence over cp and tp as one group.
  const Compiled c =
      compiled_text(attention_text("S(0)S(1)S(1)", "S(0)RR", "S(0)PP"), {.mesh = "dp=2,cp=2,tp=2"});
  EXPECT_EQ(testing::decision_on(c.plan, "b").result_layout, "(S(0)S(1)S(1), S(0)PP, S(0)PP)");
  EXPECT_EQ(results(c), whole);
  EXPECT_EQ(
      results(compiled_text(attention_text("S(0)S(1)", "S(0)R", "S(0)P"), {.mesh = "dp=2,cp=8"})),
      whole);
}

// Tokens enter and leave sharded along dp only. The planner may choose any layout for the experts.
TEST(RegionBody, CostsOnlyTheWayThereAndBack) {
  CompileOptions options{.mesh = "dp=2,ep=4", .input_layout = "S(1)R", .output_layout = "S(1)R"};
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  const Compiled c = compiled_text(graph_text(k2D), options);
  EXPECT_TRUE(c.plan.summary.proven);
  int all_gathers = 0, others = 0, all_reduces = 0;
  for (const ProgramStep& s : c.plan.program.steps) switch (s.collective.kind) {
      case CollectiveKind::kNone:
        break;
      case CollectiveKind::kAllGather:
        ++all_gathers;
        break;
      case CollectiveKind::kAllReduce:
        ++all_reduces;
        break;
      default:
        ++others;
    }
  EXPECT_EQ(all_gathers, 1) << "of the output over ep";
  EXPECT_EQ(all_reduces, 1) << "of the experts' gradient over dp";
  EXPECT_EQ(others, 0) << "a replicated dim is cut without talking";
  const auto hardware = cost::hardware_by_name("h100");
  const Mesh mesh = *Mesh::parse(options.mesh);
  const auto model = cost::CollectiveModel::create(*hardware, mesh);
  const auto us = [&](int64_t elements, const char* from, const char* to) {
    return cost::redistribute_us(*model, cost::Roofline(hardware->device),
                                 static_cast<double>(elements) * 4, true, *parse_layout(from, 2),
                                 *parse_layout(to, 2), cost::PriceRules::kFull);
  };
  double slices_us = 0;
  for (const ProgramStep& step : c.plan.program.steps)
    if (step.kernel == "local_slice") slices_us += step.cost_us;
  EXPECT_GT(slices_us, 0);
  // The planner breaks ties between routes by much less than this tolerance.
  EXPECT_NEAR(c.plan.summary.comm_us,
              us(8 * 6 * 5, "S(1)S(0)", "S(1)R") + us(8 * 4 * 5, "PS(0)", "RS(0)") + slices_us,
              1e-7);
}

TEST(RegionBody, ChargesTheFlopsThatItStates) {
  const auto price = [](const std::string& flops, Rules rules) {
    const Compiled c = compiled_text(graph_text(k2D, flops), {.mesh = "dp=2,ep=4", .rules = rules});
    return testing::decision_on(c.plan, "m").compute_us;
  };
  EXPECT_EQ(price("", Rules::kFull), 0);
  EXPECT_EQ(price("", Rules::kCompat), 0);
  EXPECT_EQ(price(", flops=8e15", Rules::kCompat), 0) << "regions are free in the reference";
  const cost::Roofline roofline(cost::hardware_by_name("h100")->device);
  EXPECT_DOUBLE_EQ(price(", flops=8e15", Rules::kFull),
                   *roofline.compute_us(1e15, 0, Dtype::kF32));  // one rank's share
}

// Rows that two mesh dims shard must be in the mesh's order, because a body relies on its
// coordinates. The other order would be available from the input without communication.
TEST(RegionBody, SeesRowsInTheOrderOfTheMesh) {
  const Compiled c = compiled_text(R"swt(
input input.0: %x : f32[8,1,1]
%m = local_map(%x, region="who", in_placements="S(0)S(0)", out_placements="S(0)S(0)", result_types="f32[8,1,1]") : f32[8,1,1]
return output.0 = %m
)swt",
                                   {.mesh = "a=2,b=2", .input_layout = "RS(0)"});
  const auto add_rank = [](std::span<const View> in, std::span<const View> out, int64_t rank) {
    for (int64_t i = 0; i < out[0].size(0); ++i)
      out[0].at(i, 0, 0) = in[0].at(i, 0, 0) + static_cast<float>(100 * rank);
  };
  auto ranks = testing::ranks_of(c, {region("who", add_rank)});
  ASSERT_TRUE(ranks.ok()) << ranks.status().message();
  const std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7};
  const runtime::HostTensorView view{row_major(Dtype::kF32, {8, 1, 1}), x.data()};
  const auto got = (*ranks)->run("step", std::vector{view});
  ASSERT_TRUE(got.ok()) << got.status().message();
  std::vector<float> y(8);
  std::memcpy(y.data(), (*got)[0].data.data(), sizeof(float) * y.size());
  EXPECT_EQ(y, (std::vector<float>{0, 1, 102, 103, 204, 205, 306, 307}));
}

TEST(RegionBody, IsAskedForByName) {
  const Compiled c = compiled_text(graph_text(k2D), {.mesh = "dp=2,ep=4"});
  const auto ranks = testing::ranks_of(c, {region("experts", experts)});
  ASSERT_FALSE(ranks.ok());
  EXPECT_EQ(ranks.status().code(), Code::kUnimplemented);
  EXPECT_EQ(ranks.status().message(),
            "the manual region 'experts.backward' has no body: give one when the executor is made");
}

}  // namespace
}  // namespace shw
