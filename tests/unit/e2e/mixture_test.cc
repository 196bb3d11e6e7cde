// A mixture of experts, forward and backward, with its experts on different ranks. It has no manual
// region and uses the rules of grouped_mm.
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
#include "tools/execute.h"

namespace shw {
namespace {

using import::StoredTensor;
using import::TensorFile;

struct MixtureSizes {
  int64_t tokens, experts, width, hidden;
};

// $T tokens and $E experts of $K → $N → $K. Each token goes to two experts, so there are $M rows.
// $A = $K·$N is the stride between transposed weights.
constexpr const char* kMixture = R"swt(
input param.router: %router : f32[$K,$E]
input param.up: %up : f32[$E,$K,$N]
input param.down: %down : f32[$E,$N,$K]
input input.x: %x : f32[$T,$K]
input input.g: %g : f32[$T,$K]
%scores = mm(%x, %router) : f32[$T,$E]
%top = topk(%scores, k=2, dim=-1) : (f32[$T,2], i64[$T,2])
%chosen = get_item(%top, index=1) : i64[$T,2]
%flat = view(%chosen, size=[$M]) : i64[$M]
%sorted = sort(%flat, dim=0) : (i64[$M], i64[$M])
%place = get_item(%sorted, index=1) : i64[$M]
%token = floor_divide(%place, none, other=2) : i64[$M]
%names = iota(length=$E, start=0, step=1) : i64[$E]
%names2 = unsqueeze(%names, dim=1) : i64[$E,1]{1,1}
%match = eq(%names2, %flat) : bool[$E,$M]
%count = sum(%match, dims=[1]) : i64[$E]
%ends = cumsum(%count, dim=0) : i64[$E]
%rows = index_select(%x, %token, dim=0) : f32[$M,$K]
%mid = grouped_mm(%rows, %up, %ends) : f32[$M,$N]
%act = silu(%mid) : f32[$M,$N]
%y = grouped_mm(%act, %down, %ends) : f32[$M,$K]
%start = full_like(%x, fill_value=0.0) : f32[$T,$K]
%out = index_put(%start, %y, %token, accumulate=true) : f32[$T,$K]
%gy = index_select(%g, %token, dim=0) : f32[$M,$K]
%down_t = transpose(%down, dim0=1, dim1=2) : f32[$E,$K,$N]{$A,1,$K}
%dact = grouped_mm(%gy, %down_t, %ends) : f32[$M,$N]
%act_t = t(%act) : f32[$N,$M]{1,$N}
%ddown = grouped_mm(%act_t, %gy, %ends) : f32[$E,$N,$K]
%dmid = silu_backward(%dact, %mid) : f32[$M,$N]
%rows_t = t(%rows) : f32[$K,$M]{1,$K}
%dup = grouped_mm(%rows_t, %dmid, %ends) : f32[$E,$K,$N]
%up_t = transpose(%up, dim0=1, dim1=2) : f32[$E,$N,$K]{$A,1,$N}
%drows = grouped_mm(%dmid, %up_t, %ends) : f32[$M,$K]
%start_g = full_like(%g, fill_value=0.0) : f32[$T,$K]
%dx = index_put(%start_g, %drows, %token, accumulate=true) : f32[$T,$K]
return output.out = %out, output.dx = %dx, grad.up = %dup, grad.down = %ddown
)swt";

std::vector<uint8_t> mixture(const MixtureSizes& n) {
  const std::map<char, int64_t> values = {{'T', n.tokens},     {'E', n.experts},
                                          {'K', n.width},      {'N', n.hidden},
                                          {'M', 2 * n.tokens}, {'A', n.width * n.hidden}};
  std::string text;
  for (const char* c = kMixture; *c != '\0'; ++c)
    if (*c == '$')
      text += std::to_string(values.at(*++c));
    else
      text += *c;
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? write_graph(*graph) : std::vector<uint8_t>();
}

using MixturePins = std::vector<std::pair<std::string, std::string>>;
// Each rank along `ep` has its own experts and their gradients.
const MixturePins kExpertsApart = {
    {"param.up", "RS(0)"}, {"param.down", "RS(0)"}, {"grad.up", "RS(0)"}, {"grad.down", "RS(0)"}};

CompileOptions mixture_options(const std::string& mesh, const MixturePins& pins,
                               const MixturePins& more = {}) {
  CompileOptions o{.mesh = mesh};
  o.parameter_budget.kind = ParameterBudget::Kind::kNone;
  o.pins = pins;
  o.pins.insert(o.pins.end(), more.begin(), more.end());
  return o;
}

Plan mixture_plan(const MixtureSizes& sizes, const CompileOptions& o) {
  Monitor monitor;
  auto compiled = testing::compile_packed(mixture(sizes), o, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message() << " at "
                             << compiled.status().node_name();
  return compiled.ok() ? std::move(compiled->plan) : Plan{};
}

TensorFile mixture_inputs(const MixtureSizes& n) {
  const std::pair<const char*, Dims> shapes[] = {{"param.router", {n.width, n.experts}},
                                                 {"param.up", {n.experts, n.width, n.hidden}},
                                                 {"param.down", {n.experts, n.hidden, n.width}},
                                                 {"input.x", {n.tokens, n.width}},
                                                 {"input.g", {n.tokens, n.width}}};
  TensorFile file;
  uint32_t salt = 1;
  for (const auto& [name, shape] : shapes) {
    StoredTensor& t = file[name];
    t.type = row_major(Dtype::kF32, shape);
    t.bytes.resize(static_cast<size_t>(t.type.bytes()));
    ++salt;
    for (uint32_t i = 0; i < t.type.numel(); ++i) {
      const float v = static_cast<float>((i * 2654435761u + salt * 40503u) % 1009) / 1009 - 0.5f;
      std::memcpy(t.bytes.data() + size_t{i} * 4, &v, 4);
    }
  }
  return file;
}

Result<TensorFile> mixture_results(const MixtureSizes& sizes, const CompileOptions& o) {
  const auto plan = testing::planned(mixture(sizes), o);
  if (!plan) return internal_error("no plan");
  return tools::execute(plan, "step", mixture_inputs(sizes));
}

// Includes five experts on four ranks.
TEST(ExpertParallel, IsTheUnshardedMixture) {
  const MixturePins by_group = {{"mid", "*P"},   {"y", "*P"},      {"dact", "*P"},
                                {"drows", "*P"}, {"dup", "*S(0)"}, {"ddown", "*S(0)"}};
  for (int64_t experts : {4, 5}) {
    const MixtureSizes sizes{24, experts, 16, 32};
    const auto apart =
                   mixture_results(sizes, mixture_options("dp=2,ep=4", kExpertsApart, by_group)),
               whole = mixture_results(sizes, mixture_options("one=1", {}));
    ASSERT_TRUE(apart.ok() && whole.ok())
        << apart.status().message() << " at " << apart.status().node_name();
    const auto compared = testing::compare(*apart, *whole, 5e-6);
    EXPECT_EQ(compared.num_compared, 4u);
    EXPECT_EQ(compared.num_bad, 0u) << compared.worst_name;
  }
}

// Only the layout of the experts is stated. With few tokens and large experts, the planner moves
// rows to the experts. With many tokens, it moves the experts to the rows.
TEST(ExpertParallel, IsChosenWhereTheExpertsAreLarge) {
  for (const auto& [tokens, apart] : {std::pair(int64_t{64}, true), {int64_t{65536}, false}}) {
    const Plan plan =
        mixture_plan({tokens, 8, 1024, 4096}, mixture_options("dp=2,ep=4", kExpertsApart));
    EXPECT_TRUE(plan.summary.proven);
    for (const char* product : {"mid", "y", "dact", "drows"}) {
      const NodeDecision d = testing::decision_on(plan, product);
      EXPECT_EQ(d.operand_layouts == "RR, RS(0), RR" && d.result_layout == "RP", apart)
          << product << ": " << d.operand_layouts << " -> " << d.result_layout;
    }
  }
}

// The results of a token's two experts are added before the ranks reduce them, which halves the
// rows.
TEST(ExpertParallel, AddsUpTokensBeforeItReducesThem) {
  CompileOptions o = mixture_options("ep=4", {});
  o.input_layout = o.output_layout = "R";
  const Plan plan = mixture_plan({4096, 8, 1024, 4096}, o);
  for (const char* sum : {"y", "drows", "out", "dx"})
    EXPECT_EQ(testing::decision_on(plan, sum).result_layout, "P") << sum;
  for (const ProgramStep& step : plan.program.steps) {
    if (step.collective.kind != CollectiveKind::kAllReduce) continue;
    EXPECT_EQ(plan.program.values[step.inputs[0]].type.shape, (Dims{4096, 1024}));
  }
}

TEST(ExpertParallel, EachRankPaysForItsOwnExperts) {
  const MixtureSizes sizes{65536, 8, 1024, 4096};
  for (const auto& [product, cut, whole] :
       {std::tuple("mid", "P", "R"), std::tuple("dup", "S(0)", "R")}) {
    const double apart =
        testing::decision_on(mixture_plan(sizes, mixture_options("ep=4", {{product, cut}})),
                             product)
            .compute_us;
    const double together =
        testing::decision_on(mixture_plan(sizes, mixture_options("ep=4", {{product, whole}})),
                             product)
            .compute_us;
    // A quarter of the FLOPs and of the experts' bytes, but all bytes of the rows.
    EXPECT_GE(apart / together, 0.25) << product;
    EXPECT_LE(apart / together, 0.34) << product;
  }
}

}  // namespace
}  // namespace shw
