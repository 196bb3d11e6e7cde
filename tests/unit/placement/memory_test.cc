// Compares the memory that a rank holds with an independent count that shares no code with the
// model. The count uses the graph alone and checks at each point, for each tensor, whether anyone
// still reads it.
#include "placement/memory.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/reader.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "lowering/lower.h"
#include "memory_model.h"
#include "ops/op_def.h"

namespace shw {
namespace {

// What a program holds while the last step of each node runs, storage by storage. The program has
// its copies as planned, and no pass has changed it. This count shares no code with the model or
// the passes.
class Recount {
 public:
  Recount(const PreparedModel& model, const Program& program, double optimizer_factor)
      : p_(program), at_(model.graph().num_nodes(), 0), runs_(at_.size(), false) {
    std::vector<uint32_t> first(p_.storages.size(), UINT32_MAX), last(first.size(), 0);
    for (uint32_t i = 0; i < p_.steps.size(); ++i)
      for (const auto* list : {&p_.steps[i].inputs, &p_.steps[i].outputs})
        for (ValueId v : *list)
          if (v.valid()) {
            const uint32_t s = p_.values[v].storage.v;
            first[s] = std::min(first[s], i), last[s] = i;
          }
    double fixed = 0;
    for (const Port& port : p_.ports)
      if (port.value.valid())
        fixed += static_cast<double>(p_.values[port.value].type.bytes()) *
                 (port.role == PortRole::kParameter ? 1 + optimizer_factor : 1);
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      double bytes = fixed;
      for (uint32_t s = 0; s < first.size(); ++s)
        if (p_.storages[StorageId{s}].kind == StorageKind::kArena && first[s] <= i && i <= last[s])
          bytes += static_cast<double>(p_.storages[StorageId{s}].bytes);
      at_[p_.steps[i].node] = bytes;  // the last step's value stays
      runs_[p_.steps[i].node] = true;
      peak_ = std::max(peak_, bytes);
    }
  }
  bool runs(uint32_t node) const { return runs_[node]; }
  double at(uint32_t node) const { return at_[node]; }
  double peak() const { return peak_; }

 private:
  const Program& p_;
  std::vector<double> at_;
  std::vector<bool> runs_;
  double peak_ = 0;
};

// Every kind of storage: a tuple with an unread element, views of views, an input that is returned,
// and a value that is returned twice.
constexpr const char* kKinds = R"(
input input.0: %x : f32[256,64]
input param.w: %w : f32[64,64]
input param.v: %v : f32[64,64]
%m = mm(%x, %w) : f32[256,64]
%t = max(%m, dim=1, keepdim=false) : (f32[256], i64[256])
%g = get_item(%t, index=0) : f32[256]
%y = view(%m, size=[128,2,64]) : f32[128,2,64]
%z = permute(%y, dims=[1,0,2]) : f32[2,128,64]
%e = exp(%z) : f32[2,128,64]
%f = exp(%e) : f32[2,128,64]
%h = add(%f, %z) : f32[2,128,64]
%n = neg(%g) : f32[256]
%vv = exp(%v) : f32[64,64]
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

std::unique_ptr<const PreparedModel> model_for(const std::string& name, const std::string& mesh,
                                               double optimizer_factor,
                                               const std::string& hardware = "h100") {
  return shw::model_for(bytes_of(name), mesh, optimizer_factor, hardware);
}

struct LimitCase {
  const char *graph, *mesh;
  double limit;          // as a share of the peak without a limit
  uint32_t least_equal;  // percent of nodes with equal bytes in both counts
};

class Memory : public ::testing::TestWithParam<LimitCase> {};

TEST_P(Memory, IsWhatTheProgramHolds) {
  const auto [graph, mesh, share, least_equal] = GetParam();
  const double factor = 1.5;
  const auto model = model_for(graph, mesh, factor);
  ASSERT_NE(model, nullptr);
  Monitor monitor;
  const ConstrainedModel wanted = asked(*model);
  auto placed = place(wanted, {}, monitor);
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  if (share < 1) {
    placed = place(wanted, std::floor(share * placed->memory.peak_bytes), {}, monitor);
    ASSERT_TRUE(placed.ok()) << placed.status().message();
  }
  const MovePrices prices = move_prices(model->collectives());
  // Treats the rewritten graph as the given one, so that steps refer to its nodes.
  const Graph given = *read_graph(write_graph(model->graph()));
  Redistributor redistributor(model->mesh(), prices);
  const auto program =
      lower(given, assignment_of(model->graph(), model->strategies(), placed->choice),
            redistributor, {.compute_us = {}, .copies = Copies::kAsPlanned}, monitor);
  ASSERT_TRUE(program.ok()) << program.status().message();
  const Recount recount(*model, *program, factor);
  const std::vector<double> got = model->memory().bytes_at_points(placed->choice);
  // The model may differ slightly. It misses a view that no window can express, which is a copy. It
  // counts too much if an operand has been copied: the operand may be gone while the node runs.
  uint32_t equal = 0, run = 0;
  for (uint32_t i = 0; i < got.size(); ++i) {
    if (!recount.runs(i)) continue;
    ++run;
    equal += got[i] == recount.at(i);
  }
  EXPECT_GE(equal, run * least_equal / 100);
  EXPECT_NEAR(model->memory().peak(placed->choice).bytes, recount.peak(), 1e-4 * recount.peak());
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, Memory,
    ::testing::Values(LimitCase{"kinds", "a=2,b=2", 1, 80},
                      LimitCase{"block_1d8.graph.pre", "dp=2,tp=4", 1, 90},
                      LimitCase{"block_1d8.graph.pre", "dp=8,tp=8", 0.6, 70},
                      LimitCase{"llama_tiny_2x4.graph.pre", "dp=2,tp=4", 1, 95},
                      LimitCase{"llama_tiny_2x4.graph.pre", "dp=2,tp=4", 0.6, 95},
                      LimitCase{"llama8b_L2_8x8_einsum.graph.pre", "dp=8,tp=8", 0.5, 90}),
    [](const auto& c) {
      const std::string name = c.param.graph;
      return name.substr(0, name.find('.')) + "_" +
             std::to_string(static_cast<int>(100 * c.param.limit));
    });

// With a variable for every copy, the budget's usage is what the model counts.
TEST(MemoryBudget, HoldsThePeakOfThePlacement) {
  const auto model = model_for("block_1d8.graph.pre", "dp=2,tp=4", 2);
  ASSERT_NE(model, nullptr);
  Monitor monitor;
  const ConstrainedModel wanted = asked(*model);
  const auto free = place(wanted, {}, monitor);
  ASSERT_TRUE(free.ok());
  const uint32_t n = model->graph().num_nodes();
  for (const double share : {1.0, 0.8, 0.6}) {
    const double limit = std::floor(share * free->memory.peak_bytes);
    const auto problem = wanted.problem_within(limit, {.from_bytes = 1, .at = {}});
    EXPECT_GT(problem.num_variables(), n);
    solver::SolveOptions options;
    options.max_branch_nodes = 20;
    const auto solution = solver::solve(problem, options, monitor);
    ASSERT_TRUE(solution.ok()) << solution.status().message();
    const std::span<const uint32_t> choice(solution->choice.data(), n);
    const double peak = model->memory().peak(choice).bytes;
    EXPECT_EQ(solver::peak_load(problem, 0, solution->choice), peak);
    EXPECT_LE(peak, limit);
  }
}

// The oracle ignores copies. So the test needs a machine on which the answers have no copies that
// count.
TEST(MemoryLimit, GivesTheCheapestPlacementThatFits) {
  const auto model =
      model_for("kinds", "a=4", 1, R"({"name": "ring", "base": "h100", "nccl": null})");
  ASSERT_NE(model, nullptr);
  Monitor monitor;
  const ConstrainedModel wanted = asked(*model);
  const auto free = place(wanted, {}, monitor);
  ASSERT_TRUE(free.ok()) << free.status().message();
  const auto lowest = lowest_peak(wanted, {}, monitor);
  ASSERT_TRUE(lowest.ok()) << lowest.status().message();
  // The least is a bound on planned bytes. The reached value is that of real programs.
  EXPECT_LE(lowest->least_bytes, lowest->reached_bytes);
  EXPECT_GE(lowest->least_bytes, 0.999 * lowest->reached_bytes);
  EXPECT_LT(lowest->reached_bytes, free->memory.peak_bytes);
  for (const double share : {0.0, 0.1, 0.4, 0.8}) {
    const double limit = std::floor(lowest->reached_bytes +
                                    share * (free->memory.peak_bytes - lowest->reached_bytes));
    const auto placed = place(wanted, limit, {}, monitor);
    ASSERT_TRUE(placed.ok()) << placed.status().message();
    EXPECT_TRUE(placed->proven);
    EXPECT_LE(placed->memory.peak_bytes, limit);
    EXPECT_LE(placed->memory.program_bytes, limit);
    EXPECT_GE(placed->objective_us, free->objective_us);
    const auto oracle = solver::solve_with_lp_solve(wanted.problem_within(limit), 60);
    ASSERT_TRUE(oracle.ok()) << oracle.status().message();
    EXPECT_NEAR(placed->objective_us, oracle->cost, 1e-6 * oracle->cost);
  }
}

TEST(MemoryLimit, ThatNothingFitsSaysWhichWouldDo) {
  const auto model = model_for("kinds", "a=4", 1);
  ASSERT_NE(model, nullptr);
  Monitor monitor;
  const ConstrainedModel wanted = asked(*model);
  const auto lowest = lowest_peak(wanted, {}, monitor);
  ASSERT_TRUE(lowest.ok());
  const auto placed = place(wanted, std::floor(lowest->reached_bytes) - 1, {}, monitor);
  ASSERT_FALSE(placed.ok());
  EXPECT_EQ(placed.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(placed.status().message().find("the lowest peak is"), std::string::npos)
      << placed.status().message();
  EXPECT_EQ(placed.status().node_index(), model->graph().origin(lowest->at).v);
}

// Between the bytes that are proven to be too little and the bytes that were reached, the solver
// must not claim that nothing fits.
TEST(MemoryLimit, SaysNoOnlyWhereThatIsProven) {
  const auto model = model_for("block_1d8.graph.pre", "dp=8,tp=8", 2);
  ASSERT_NE(model, nullptr);
  Monitor monitor;
  const ConstrainedModel wanted = asked(*model);
  solver::SolveOptions options;
  options.max_branch_nodes = 30;
  const auto lowest = lowest_peak(wanted, options, monitor);
  ASSERT_TRUE(lowest.ok()) << lowest.status().message();
  ASSERT_LT(lowest->least_bytes, lowest->reached_bytes);
  const auto code_within = [&](double limit) {
    return place(wanted, std::floor(limit), options, monitor).status().code();
  };
  EXPECT_EQ(code_within(0.9 * lowest->least_bytes), Code::kFailedPrecondition);
  options.max_branch_nodes = 0;  // enough to refute only limits that are far too low
  EXPECT_EQ(code_within(lowest->reached_bytes - 1), Code::kResourceExhausted);
  options.max_branch_nodes = 30;  // the same as when that peak was reached
  EXPECT_EQ(code_within(lowest->reached_bytes), Code::kOk);
}

// A reported bound must hold for all placements within the limit. Problems with less room, which
// are solved on the way, must not report theirs.
TEST(MemoryLimit, ProgressTellsBoundsThatHold) {
  const auto model = model_for("llama8b_L2_8x8_einsum.graph.pre", "dp=8,tp=8", 1.5);
  ASSERT_NE(model, nullptr);
  Monitor monitor;
  const ConstrainedModel wanted = asked(*model);
  constexpr double kLimit = 2'650'000'000;  // the program of the first placement does not fit
  solver::SolveOptions options;
  options.max_branch_nodes = 30;
  options.relative_gap = 2e-2;
  double told = -HUGE_VAL;
  monitor.on_progress = [&](const Progress& p) {
    told = std::max(told, p.lower_bound_us);
    return false;
  };
  const auto placed = place(wanted, kLimit, options, monitor);
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  EXPECT_GT(placed->memory.rounds, 1u);
  EXPECT_LT(placed->bound_us, (1 - 1e-3) * placed->objective_us);
  EXPECT_GT(told, 0);
  EXPECT_LE(told, placed->bound_us * (1 + 1e-9));
}

TEST(MemoryLimit, IsKeptByTheBlockAndPriced) {
  const auto model = model_for("block_1d8.graph.pre", "dp=8", 2);
  ASSERT_NE(model, nullptr);
  Monitor monitor;
  const ConstrainedModel wanted = asked(*model);
  const auto free = place(wanted, {}, monitor);
  ASSERT_TRUE(free.ok());
  EXPECT_EQ(free->memory.limit_bytes, 0);
  const auto placed = place(wanted, std::floor(free->memory.peak_bytes * 0.7), {}, monitor);
  ASSERT_TRUE(placed.ok()) << placed.status().message();
  EXPECT_TRUE(placed->proven);
  EXPECT_LE(placed->memory.peak_bytes, free->memory.peak_bytes * 0.7);
  EXPECT_GT(placed->objective_us, free->objective_us);
  EXPECT_GT(placed->memory.price_per_gib, 0);
  EXPECT_GT(placed->memory.binding, 0u);
}

}  // namespace
}  // namespace shw
