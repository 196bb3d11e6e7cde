// Communication that is hidden behind compute. The reference's discount must give the reference's
// own figure. The bounded discount must not claim more than a schedule can hide.
#include "placement/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/pipeline.h"
#include "compiler/place.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "packed.h"
#include "plan/plan.h"

namespace shw {
namespace {

nlohmann::json json_of(const std::string& name) {
  const auto json = import::read_json_file(SHW_TEST_DATA "/graphs/" + name + ".graph.pre.json.gz");
  EXPECT_TRUE(json.ok()) << json.status().message();
  return *json;
}

std::vector<uint8_t> graph_bytes(const nlohmann::json& json) {
  const auto graph = import::import_fx_json(json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return write_graph(*graph);
}

// The same model with a larger batch: replaces the sizes that contain the batch everywhere.
void replace_sizes(const std::map<int64_t, int64_t>& sizes, nlohmann::json& value) {
  if (value.is_structured()) {
    for (auto& item : value) replace_sizes(sizes, item);
  } else if (value.is_number_integer()) {
    const auto at = sizes.find(value.get<int64_t>());
    if (at != sizes.end()) value = at->second;
  }
}

Graph graph_of(const char* text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return *std::move(graph);
}

NodeId node_named(const Graph& graph, const std::string& name) {
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    if (graph.name(NodeId{i}) == name) return NodeId{i};
  ADD_FAILURE() << name;
  return kNoNode;
}

std::string names_of(const Graph& graph, const std::vector<bool>& nodes) {
  std::string names;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    if (nodes[i]) names += (names.empty() ? "" : " ") + graph.name(NodeId{i});
  return names;
}

TEST(Overlap, PrefetchReachesTheReferencesOptimum) {
  // The reference's transformer block on 32 × 8 (transformer_block_2d_prefetch0). Its batch is 256
  // where the graph has 64, so the gradients are the same.
  nlohmann::json json = json_of("block_1d8");
  for (auto& node : json["nodes"])
    for (const char* key : {"val", "args", "kwargs"})
      if (node.contains(key)) replace_sizes({{64, 256}, {64 * 256, 256 * 256}}, node[key]);
  CompileOptions options{.mesh = "dp=32,tp=8",
                         .rules = Rules::kCompat,
                         .input_layout = "S(0)R",
                         .output_layout = "S(0)R"};
  Monitor monitor;
  const auto plain = testing::compile_packed(graph_bytes(json), options, monitor);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_NEAR(plain->plan.summary.objective_us, 16601.508178456275, 1e-9 * 16601);
  options.overlap = {Overlap::kPrefetch, 0};
  const auto free = testing::compile_packed(graph_bytes(json), options, monitor);
  ASSERT_TRUE(free.ok()) << free.status().message();
  const PlanSummary& s = free->plan.summary;
  EXPECT_TRUE(s.proven);
  EXPECT_NEAR(s.objective_us, 2627.5786589794966, 1e-9 * 2627);
  EXPECT_NEAR(s.comm_us, 315.49059898477157, 1e-9 * 315);
  EXPECT_NEAR(s.compute_us, 2286.088059994725, 1e-9 * 2286);
  EXPECT_EQ(s.transition_us, 26);
  EXPECT_EQ(s.overlap, "prefetch");
  EXPECT_EQ(read_plan(free->bytes)->summary.overlap, "prefetch");
  EXPECT_NE(s.options_hash, plain->plan.summary.options_hash);
  // At full price there is no discount.
  options.overlap = {Overlap::kPrefetch, 1};
  EXPECT_NEAR(
      testing::compile_packed(graph_bytes(json), options, monitor)->plan.summary.objective_us,
      16601.508178456275, 1e-9 * 16601);
}

// A linear layer, forward and backward, with a second use of its weight.
constexpr const char* kLayer = R"(
input param.w: %w : f32[16,8]
input param.b: %b : f32[8]
input input.0: %x : f32[4,8]
input tangent.0: %dy : f32[4,16]
%wt = permute(%w, dims=[1,0]) : f32[8,16]{1,8}
%bb = neg(%b) : f32[8]
%xb = add(%x, %bb) : f32[4,8]
%y = mm(%xb, %wt) : f32[4,16]
%dyt = permute(%dy, dims=[1,0]) : f32[16,4]{1,16}
%dw = mm(%dyt, %xb) : f32[16,8]
%dw2 = neg(%dw) : f32[16,8]
%dx = mm(%dy, %w) : f32[4,8]
%db = sum(%dx, dims=[0], keepdim=false) : f32[8]
%last = neg(%x) : f32[4,8]
return output.0 = %y, output.1 = %last, grad.w = %dw2, grad.b = %db
)";

TEST(Overlap, KnowsWhatComesFromParametersAndGoesToGradients) {
  const Graph graph = graph_of(kLayer);
  EXPECT_EQ(names_of(graph, parameter_derived(graph)), "w b wt bb");
  EXPECT_EQ(names_of(graph, gradient_only(graph)), "dy dyt dw dw2 dx db")
      << "the products too, as the reference has it";
}

TEST(Overlap, PrefetchDiscountsEveryEdgeOfBothSets) {
  const Graph graph = graph_of(kLayer);
  const auto d = edge_discounts(graph, {Overlap::kPrefetch, 0.25}, {}, {});
  for (const char* name : {"wt", "bb", "dyt", "dw", "dw2", "db"})
    EXPECT_EQ(d.of(node_named(graph, name), 0), (EdgeDiscount{0.25, 0})) << name;
  EXPECT_EQ(d.of(node_named(graph, "xb"), 0), EdgeDiscount{});
  EXPECT_EQ(d.of(node_named(graph, "xb"), 1), (EdgeDiscount{0.25, 0}));
  EXPECT_EQ(d.of(node_named(graph, "y"), 1), (EdgeDiscount{0.25, 0}));
  EXPECT_EQ(d.size(), 11u);
  EXPECT_EQ((EdgeDiscount{0.25, 0}).charged(8), 2);
  EXPECT_EQ((EdgeDiscount{0, 0}).charged(solver::kForbidden), solver::kForbidden);
}

TEST(Overlap, BoundedGivesComputeToTheNextGatherAndTheLastReduction) {
  const Graph graph = graph_of(kLayer);
  const auto at = [&](const char* name) { return node_named(graph, name); };
  std::vector<double> least(graph.num_nodes(), 0);
  least[at("xb").v] = 1, least[at("y").v] = 10, least[at("dyt").v] = 100, least[at("dw").v] = 1000;
  least[at("dx").v] = 1e4, least[at("last").v] = 1e5;
  least[at("wt").v] = least[at("bb").v] = least[at("dw2").v] = least[at("db").v] = 1e9;
  std::vector<bool> no_comm(graph.num_nodes(), false);
  const auto d = edge_discounts(graph, {Overlap::kBounded, 0}, least, no_comm);
  const auto hidden = [&](const char* consumer, size_t k) {
    return d.of(at(consumer), k).hidden_us;
  };
  // The gathers by use, and what can run meanwhile: b for xb (nothing), w for y (xb), w for dx (y,
  // dyt and dw). The reductions: dw (dx runs until the next gradient), db (last runs).
  EXPECT_EQ(hidden("xb", 1), 0);
  EXPECT_EQ(hidden("y", 1), 0);
  EXPECT_EQ(hidden("wt", 0), 1) << "before the transpose, which is of this use only";
  EXPECT_EQ(hidden("dx", 1), 10 + 100 + 1000);
  EXPECT_EQ(hidden("dw2", 0), 1e4);
  EXPECT_EQ(hidden("db", 0), 1e5);
  EXPECT_EQ(d.size(), 4u);
  EXPECT_EQ(
      edge_discounts(graph, {Overlap::kBounded, 0.5}, least, no_comm).of(at("dx"), 1).hidden_us,
      555);
  no_comm[at("dx").v] = true;
  EXPECT_EQ(edge_discounts(graph, {Overlap::kBounded, 0}, least, no_comm).of(at("dx"), 1).hidden_us,
            0);
  EXPECT_EQ((EdgeDiscount{1, 5}).charged(8), 3);
  EXPECT_EQ((EdgeDiscount{1, 5}).charged(4), 0);
  EXPECT_EQ((EdgeDiscount{1, 5}).charged(solver::kForbidden), solver::kForbidden);
}

TEST(Overlap, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(overlap_from_name("all").ok());
  EXPECT_EQ(*overlap_from_name("bounded"), Overlap::kBounded);
  for (const OverlapOptions& o :
       {OverlapOptions{Overlap::kPrefetch, -0.1}, OverlapOptions{Overlap::kBounded, 1.1},
        OverlapOptions{Overlap::kNone, 0.5}, OverlapOptions{Overlap::kPrefetch, std::nan("")}})
    EXPECT_FALSE(check(o).ok());
}

class OverlapOf : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<const PreparedModel> model(OverlapOptions overlap) {
    const bool llama = std::string(GetParam()).find("8x8") != std::string::npos;
    CompileOptions options{.mesh = llama ? "dp=8,tp=8" : "dp=8",
                           .input_layout = llama ? "S(0)R" : "S(0)",
                           .output_layout = llama ? "S(0)S(2)" : "S(0)"};
    options.overlap = overlap;
    if (llama) options.grad_reduce_dtype = Dtype::kF32;
    auto made = PreparedModel::create(graph_bytes(json_of(GetParam())), options, monitor);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return std::move(*made);
  }
  Placed optimum(const PreparedModel& m) {
    auto placed = place(*ConstrainedModel::create(m, m.options(), monitor), {}, monitor);
    EXPECT_TRUE(placed.ok()) << placed.status().message();
    EXPECT_TRUE(placed->proven);
    return *std::move(placed);
  }
  Monitor monitor;
};

TEST_P(OverlapOf, BoundedLiesBetweenAllAndNothing) {
  const auto all = model({}), bounded = model({Overlap::kBounded, 0}),
             nothing = model({Overlap::kPrefetch, 0});
  const Placed most = optimum(*all), some = optimum(*bounded), least = optimum(*nothing);
  EXPECT_LT(some.objective_us, most.objective_us);
  EXPECT_GT(some.objective_us, least.objective_us);
  // The same choice at full prices: the hidden time is at most the compute time.
  const auto full = all->price(some.choice);
  ASSERT_TRUE(full.ok());
  EXPECT_LT(full->objective_us - some.objective_us, some.total.compute_us);
  EXPECT_GE(full->objective_us, most.objective_us * (1 - 1e-12));
  EXPECT_EQ(full->total.compute_us, some.total.compute_us);
}

// Runs the chosen plan with one compute stream and one network stream. All communication blocks
// compute, except for the discounted collectives, which run beside compute. A discounted gather may
// start at the use of the previous gather and must end at its own use. A discounted reduction may
// start where its value is made and must end when the next gradient is there. Any remaining time
// stalls compute.
TEST_P(OverlapOf, BoundedClaimsNoMoreThanAScheduleReaches) {
  const auto all = model({}), bounded = model({Overlap::kBounded, 0});
  const Placed placed = optimum(*bounded);
  const Graph& graph = bounded->graph();
  const Strategies& strategies = bounded->strategies();
  const std::vector<bool> derived = parameter_derived(graph);
  const UserTable users(graph);

  struct Transfer {
    uint32_t at;  // where it must end, or the earliest start
    double left, bytes;
  };
  std::vector<Transfer> gathers, reductions;
  std::vector<double> blocking(graph.num_nodes(), 0);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    for (size_t k = 0; k < graph.operands(n).size(); ++k) {
      const NodeId from = graph.operands(n)[k];
      if (!from.valid()) continue;
      const auto& pool = strategies.pool();
      const Layout& a =
          pool.layout(pool.list(strategies.produced(graph, n, k))[placed.choice[from.v]]);
      const Layout& b = strategies.operand_layout(n, k, placed.choice[i]);
      const double us = all->redistribution_us(n, k, a, b);
      if (us == bounded->redistribution_us(n, k, a, b)) {
        blocking[i] += us;
      } else if (derived[from.v]) {
        NodeId use = n;
        while (derived[use.v]) use = users.users(use)[0];
        gathers.push_back({use.v, us, edge_value(graph, n, k).bytes});
      } else {
        reductions.push_back({from.v, us, edge_value(graph, n, k).bytes});
      }
    }
  }
  EXPECT_GT(gathers.size(), 5u);
  EXPECT_GT(reductions.size(), 3u);
  const auto by_place = [](const Transfer& a, const Transfer& b) { return a.at < b.at; };
  std::stable_sort(gathers.begin(), gathers.end(), by_place);
  std::stable_sort(reductions.begin(), reductions.end(), by_place);

  double clock = 0;
  size_t gather = 0, reduction = 0;  // next to be due; next to begin
  Transfer* running = nullptr;       // a reduction
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    for (; gather < gathers.size() && gathers[gather].at <= i; ++gather)
      clock += gathers[gather].left;
    clock += blocking[i];
    double us = placed.costs[i].compute_us;
    clock += us;
    Transfer* const ahead = gather < gathers.size() ? &gathers[gather] : nullptr;
    while (us > 1e-9 && ((ahead && ahead->left > 0) || (running && running->left > 0))) {
      // Two transfers share the network. A single one has all of it.
      const double a = ahead && ahead->left > 0 ? ahead->bytes : 0;
      const double b = running && running->left > 0 ? running->bytes : 0;
      const double step = std::min(
          {us, a > 0 ? ahead->left * (a + b) / a : us, b > 0 ? running->left * (a + b) / b : us});
      if (a > 0) ahead->left = std::max(0.0, ahead->left - step * a / (a + b));
      if (b > 0) running->left = std::max(0.0, running->left - step * b / (a + b));
      us -= step;
      if (step <= 0) break;
    }
    for (; reduction < reductions.size() && reductions[reduction].at <= i; ++reduction) {
      if (running) clock += running->left;
      running = &reductions[reduction];
    }
  }
  if (running) clock += running->left;
  EXPECT_LE(clock, (placed.total.compute_us + placed.total.comm_us) * (1 + 1e-12));
  RecordProperty("claimed", std::to_string(placed.total.compute_us + placed.total.comm_us));
  RecordProperty("scheduled", std::to_string(clock));
}

INSTANTIATE_TEST_SUITE_P(Graphs, OverlapOf, ::testing::Values("block_1d8", "llama8b_L2_8x8_einsum"),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
}  // namespace shw
