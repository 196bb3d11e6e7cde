// What a rank holds, against a count from the graph alone that shares no code with the model: point
// by point, tensor by tensor, whether anyone still reads it.
#include "placement/memory.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "compiler/planner.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "ops/op_def.h"

namespace shw {
namespace {

// A tensor: a node, and which of its results.
using Tensor = std::pair<uint32_t, size_t>;

class Recount {
 public:
  Recount(const Planner& planner, double optimizer_factor, std::span<const uint32_t> choice)
      : graph_(planner.graph()), planner_(planner), factor_(optimizer_factor), choice_(choice) {}

  double at(uint32_t point) const {
    std::set<Tensor> held;
    double copies = 0;
    for (const InputInfo& in : graph_.inputs()) held.insert({in.node.v, 0});
    std::set<Tensor> returned = held;
    for (const OutputInfo& out : graph_.outputs()) {
      if (!out.node.valid()) continue;
      const Tensor t = owner({out.node.v, 0});
      if (!returned.insert(t).second) copies += bytes({out.node.v, 0});
      held.insert(t);
    }
    for (uint32_t reader = point; reader < graph_.num_nodes(); ++reader)
      for (NodeId o : graph_.operands(NodeId{reader}))
        if (o.valid() && !graph_.is_tuple(o))
          if (const Tensor t = owner({o.v, 0}); t.first <= point) held.insert(t);
    // What this node makes, unless no one takes it out of its tuple.
    const NodeId here{point};
    if (owns(here) && !graph_.is_tuple(here)) held.insert({point, 0});
    if (owns(here) && graph_.is_tuple(here))
      for (uint32_t i = 0; i < graph_.num_nodes(); ++i)
        if (graph_.op(NodeId{i}) == OpKind::kGetItem && graph_.operands(NodeId{i})[0] == here &&
            is_read({i, 0}))
          held.insert(owner({i, 0}));
    double sum = copies;
    for (const Tensor& t : held) sum += bytes(t) * (is_parameter(t.first) ? 1 + factor_ : 1);
    return sum;
  }

 private:
  bool owns(NodeId n) const {
    return graph_.op(n) == OpKind::kInput || !op_def(graph_.op(n)).is_view;
  }
  Tensor owner(Tensor t) const {
    const NodeId n{t.first};
    if (owns(n)) return t;
    const uint32_t from = graph_.operands(n)[0].v;
    if (graph_.op(n) == OpKind::kGetItem)
      return owner({from, static_cast<size_t>(graph_.attrs(n).get_int(AttrKey::kIndex, 0))});
    return owner({from, 0});
  }
  bool is_read(Tensor t) const {
    for (const OutputInfo& out : graph_.outputs())
      if (out.node.v == t.first) return true;
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i)
      for (NodeId o : graph_.operands(NodeId{i}))
        if (o.valid() && o.v == t.first) return true;
    return false;
  }
  bool is_parameter(uint32_t node) const {
    for (const InputInfo& in : graph_.inputs())
      if (in.node.v == node) return in.role == InputRole::kParameter;
    return false;
  }
  double bytes(Tensor t) const {
    const NodeId n{t.first};
    const TensorType& type = *graph_.results(n)[t.second];
    const Layout& layout = planner_.strategies().result_layout(n, t.second, choice_[t.first]);
    double count = static_cast<double>(dtype_size(type.dtype));
    for (size_t d = 0; d < type.shape.size(); ++d) {
      int64_t size = type.shape[d];
      for (int m = 0; m < planner_.mesh().rank(); ++m)
        if (layout[m].is_shard_like(static_cast<int>(d)))
          size = (size + planner_.mesh().size(m) - 1) / planner_.mesh().size(m);
      count *= static_cast<double>(size);
    }
    return count;
  }

  const Graph& graph_;
  const Planner& planner_;
  const double factor_;
  std::span<const uint32_t> choice_;
};

// Every kind of storage: a tuple of which one element is not read, views of views, an input that is
// returned, a value that is returned twice.
constexpr const char* kKinds = R"(
input input.0: %x : f32[8,16]
input param.w: %w : f32[16,16]
input param.v: %v : f32[16,16]
%m = mm(%x, %w) : f32[8,16]
%t = max(%m, dim=1, keepdim=false) : (f32[8], i64[8])
%g = get_item(%t, index=0) : f32[8]
%y = view(%m, size=[4,2,16]) : f32[4,2,16]
%z = permute(%y, dims=[1,0,2]) : f32[2,4,16]
%e = exp(%z) : f32[2,4,16]
%f = exp(%e) : f32[2,4,16]
%h = add(%f, %z) : f32[2,4,16]
%n = neg(%g) : f32[8]
%vv = exp(%v) : f32[16,16]
return output.0 = %h, output.1 = %n, output.2 = %h, output.3 = %x, grad.w = %vv
)";

std::vector<uint8_t> bytes_of(const std::string& name) {
  if (name == "kinds") {
    auto graph = parse_graph(kKinds);
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return write_graph(*graph);
  }
  const auto json = import::read_json_file(SHW_TEST_DATA "/graphs/" + name + ".json.gz");
  const auto graph = import::import_fx_json(*json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return write_graph(*graph);
}

std::unique_ptr<Planner> planner_for(const std::string& name, const std::string& mesh,
                                     double optimizer_factor) {
  Monitor monitor;
  CompileOptions options;
  options.mesh = mesh;
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  options.optimizer_factor = optimizer_factor;
  auto planner = Planner::create(bytes_of(name), options, monitor);
  EXPECT_TRUE(planner.ok()) << planner.status().message();
  return planner.ok() ? std::move(*planner) : nullptr;
}

class Memory : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Memory, IsWhatACountFromTheGraphGives) {
  const double factor = 1.5;
  const auto planner = planner_for(GetParam().first, GetParam().second, factor);
  ASSERT_NE(planner, nullptr);
  const uint32_t n = planner->graph().num_nodes();
  std::mt19937 random(7);
  for (int round = 0; round < 3; ++round) {
    std::vector<uint32_t> choice;
    for (uint32_t i = 0; i < n; ++i)
      choice.push_back(static_cast<uint32_t>(random() % planner->strategies().of(NodeId{i}).count));
    const std::vector<double> got = planner->memory().bytes_at_points(choice);
    ASSERT_EQ(got.size(), n);
    const Recount recount(*planner, factor, choice);
    double peak = 0;
    for (uint32_t i = 0; i < n; ++i) {
      EXPECT_EQ(got[i], recount.at(i)) << "point " << i << ", " << planner->graph().name(NodeId{i});
      peak = std::max(peak, recount.at(i));
    }
    EXPECT_EQ(planner->memory().peak(choice).bytes, peak);
    EXPECT_LE(planner->memory().floor().bytes, peak);
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, Memory,
                         ::testing::Values(std::pair("kinds", "a=2,b=2"),
                                           std::pair("block_1d8.graph.pre", "dp=2,tp=4"),
                                           std::pair("llama_tiny_2x4.graph.pre", "dp=2,tp=4")),
                         [](const auto& t) {
                           std::string name = t.param.first;
                           return name.substr(0, name.find('.'));
                         });

TEST(MemoryLimit, GivesTheCheapestPlacementThatFits) {
  const auto planner = planner_for("kinds", "a=4", 1);
  ASSERT_NE(planner, nullptr);
  Monitor monitor;
  PlacementConstraints wanted = planner->constraints();
  const auto free = planner->place(wanted, {}, monitor);
  ASSERT_TRUE(free.ok()) << free.status().message();
  const auto lowest = planner->lowest_peak(wanted, {}, monitor);
  ASSERT_TRUE(lowest.ok()) << lowest.status().message();
  EXPECT_EQ(lowest->least_bytes, lowest->reached_bytes);
  EXPECT_LT(lowest->reached_bytes, free->memory.peak_bytes);
  for (const double share : {0.0, 0.1, 0.4, 0.8}) {
    wanted.memory_limit_bytes = static_cast<int64_t>(
        lowest->reached_bytes + share * (free->memory.peak_bytes - lowest->reached_bytes));
    const auto placed = planner->place(wanted, {}, monitor);
    ASSERT_TRUE(placed.ok()) << placed.status().message();
    EXPECT_TRUE(placed->proven);
    EXPECT_LE(placed->memory.peak_bytes, static_cast<double>(wanted.memory_limit_bytes));
    EXPECT_GE(placed->objective_us, free->objective_us);
    const auto oracle = solver::solve_with_lp_solve(*planner->problem(wanted, monitor), 60);
    ASSERT_TRUE(oracle.ok()) << oracle.status().message();
    EXPECT_NEAR(placed->objective_us, oracle->cost, 1e-6 * oracle->cost);
  }
}

TEST(MemoryLimit, ThatNothingFitsSaysWhichWouldDo) {
  const auto planner = planner_for("kinds", "a=4", 1);
  ASSERT_NE(planner, nullptr);
  Monitor monitor;
  PlacementConstraints wanted = planner->constraints();
  const auto lowest = planner->lowest_peak(wanted, {}, monitor);
  ASSERT_TRUE(lowest.ok());
  wanted.memory_limit_bytes = static_cast<int64_t>(lowest->reached_bytes) - 1;
  const auto placed = planner->place(wanted, {}, monitor);
  ASSERT_FALSE(placed.ok());
  EXPECT_EQ(placed.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(placed.status().message().find("the lowest peak is"), std::string::npos)
      << placed.status().message();
  EXPECT_EQ(placed.status().node_index(), lowest->at.v);
}

TEST(MemoryLimit, IsKeptByTheBlockAndPriced) {
  const auto planner = planner_for("block_1d8.graph.pre", "dp=8", 2);
  ASSERT_NE(planner, nullptr);
  Monitor monitor;
  PlacementConstraints wanted = planner->constraints();
  const auto free = planner->place(wanted, {}, monitor);
  ASSERT_TRUE(free.ok());
  EXPECT_EQ(free->memory.limit_bytes, 0);
  wanted.memory_limit_bytes = static_cast<int64_t>(free->memory.peak_bytes * 0.7);
  const auto placed = planner->place(wanted, {}, monitor);
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  EXPECT_TRUE(placed->proven);
  EXPECT_LE(placed->memory.peak_bytes, free->memory.peak_bytes * 0.7);
  EXPECT_GT(placed->objective_us, free->objective_us);
  EXPECT_GT(placed->memory.price_per_gib, 0);
  EXPECT_GT(placed->memory.binding, 0u);
}

}  // namespace
}  // namespace shw
