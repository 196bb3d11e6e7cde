// The simulator on plans of real models.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/pipeline.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "packed.h"
#include "simulate/lower_bound.h"
#include "simulate/simulate.h"

namespace shw {
namespace {

struct PlansCase {
  const char *name, *graph, *mesh;
  std::vector<std::string> entries{};
};
const PlansCase kPlansCases[] = {
    {"llama_tiny_2x4", "llama_tiny_2x4", "dp=2,tp=4"},
    {"llama_tiny_8", "llama_tiny_2x4", "dp=8"},
    {"llama_tiny_entries", "llama_tiny_2x4", "dp=2,tp=4", {"forward", "backward", "infer"}},
    {"gpt2_tiny_2x4", "gpt2_tiny_2x4", "dp=2,tp=4"},
    {"gpt2_tiny_2x2x2", "gpt2_tiny_2x4", "dp=2,cp=2,tp=2"},
    {"llama8b_L2", "llama8b_L2_8x8_einsum", "dp=8,tp=8"},
    {"llama8b_L2_entries", "llama8b_L2_8x8_einsum", "dp=8,tp=8", {"step", "infer"}},
};

class SimulatedPlans : public ::testing::TestWithParam<PlansCase> {
 protected:
  void SetUp() override {
    const auto json = import::read_json_file(std::string(SHW_TEST_DATA) + "/../../examples/data/" +
                                             GetParam().graph + ".graph.pre.json.gz");
    ASSERT_TRUE(json.ok()) << json.status().message();
    const auto graph = import::import_fx_json(*json);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    CompileOptions options;
    options.mesh = GetParam().mesh;
    options.entries = GetParam().entries;
    Monitor monitor;
    auto compiled = testing::compile_packed(write_graph(*graph), options, monitor);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    program_ = std::move(compiled->plan.program);
  }
  Program program_;
};
INSTANTIATE_TEST_SUITE_P(Models, SimulatedPlans, ::testing::ValuesIn(kPlansCases),
                         [](const auto& c) { return std::string(c.param.name); });

TEST_P(SimulatedPlans, LieBetweenTheirBoundAndOneStepAfterAnother) {
  ASSERT_FALSE(program_.entries.empty());
  for (const ProgramEntry& entry : program_.entries) {
    const Simulation s = simulate(program_, entry);
    EXPECT_GT(s.lower_bound_us, 0);
    EXPECT_GE(s.total_us, s.lower_bound_us);
    EXPECT_LE(s.total_us, s.one_after_another_us * (1 + 1e-12));
    EXPECT_NEAR(s.total_us, s.queues[0].busy_us + s.exposed_us, 1e-9 * s.total_us);
    EXPECT_LE(s.exposed_us, s.collectives_us * (1 + 1e-12));
    EXPECT_EQ(s.at(s.critical_path.back()).end_us, s.total_us);
  }
}

TEST_P(SimulatedPlans, HaveTheSameTimesWhereNothingElseIsAsked) {
  for (const ProgramEntry& entry : program_.entries) {
    const Simulation s = simulate(program_, entry);
    const Simulation times = simulate(program_, entry, {.only_times = true});
    EXPECT_EQ(times.total_us, s.total_us);
    EXPECT_EQ(times.exposed_us, s.exposed_us);
    ASSERT_EQ(times.steps.size(), s.steps.size());
    for (size_t i = 0; i < s.steps.size(); ++i) {
      EXPECT_EQ(times.steps[i].start_us, s.steps[i].start_us);
      EXPECT_EQ(times.steps[i].cause, s.steps[i].cause);
    }
  }
}

// The sharper bound holds for any order, so it also holds if every step blocks compute.
TEST_P(SimulatedPlans, TakeNoLessThanTheBoundOfAllOrders) {
  Program serial = program_;
  for (ProgramStep& step : serial.steps) {
    step.stream = kComputeStream;
    step.waits.clear();
    step.records = kNoEvent;
  }
  for (size_t e = 0; e < program_.entries.size(); ++e) {
    const Simulation s = simulate(program_, program_.entries[e]);
    const Simulation slow = simulate(serial, program_.entries[e]);
    const double bound = lower_bound_us(program_, program_.entries[e], s);
    EXPECT_GE(bound, s.lower_bound_us);
    EXPECT_LE(bound, s.total_us);
    EXPECT_LE(s.total_us, slow.total_us * (1 + 1e-12)) << "streams pay";
    EXPECT_NEAR(lower_bound_us(serial, program_.entries[e], slow), bound, 1e-9 * bound);
  }
}

// Streams and events in a plan state all dependencies between its steps. So the start of a step
// never depends on a value whose writer no event covers.
TEST_P(SimulatedPlans, SayWithEventsWhatTheirStepsNeed) {
  SimulationOptions one;
  one.queue_per_communicator = false;
  for (const ProgramEntry& entry : program_.entries) {
    Program without = program_;
    for (ProgramStep& step : without.steps) step.inputs.clear(), step.outputs.clear();
    const Simulation with = simulate(program_, entry, one), again = simulate(without, entry, one);
    for (size_t i = 0; i < with.steps.size(); ++i)
      EXPECT_EQ(with.steps[i].start_us, again.steps[i].start_us) << i;
  }
}

// The passes count live bytes by the same definition: from the first to the last step that touches
// a storage. In addition, the memory pass pads storages and holds a collective's operands until
// compute has waited for it. So its peak is at least as high, and the arena is at least as large as
// that peak.
TEST_P(SimulatedPlans, HoldWhatThePassesCount) {
  const std::vector<int64_t> live = LiveBytes::of(program_, touched_storages(program_)).bytes();
  int64_t peak = 0;
  for (const ProgramEntry& entry : program_.entries) {
    const LiveCurves c = live_curves(program_, entry);
    ASSERT_EQ(c.arena.size(), entry.num_steps);
    EXPECT_TRUE(std::equal(c.arena.begin(), c.arena.end(), live.begin() + entry.first_step));
    peak = std::max(peak, c.peak[static_cast<size_t>(StorageKind::kArena)]);
    EXPECT_LE(c.peak[static_cast<size_t>(StorageKind::kSession)], program_.session_bytes);
  }
  EXPECT_EQ(peak, *std::ranges::max_element(live));
  EXPECT_LE(peak, program_.live_peak_bytes);
  EXPECT_LE(program_.live_peak_bytes, program_.arena_bytes);
  EXPECT_LE(static_cast<double>(program_.arena_bytes),
            1.003 * static_cast<double>(program_.live_peak_bytes));
}

}  // namespace
}  // namespace shw
