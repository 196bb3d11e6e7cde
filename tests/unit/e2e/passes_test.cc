// Passes must not change a program's results: the bits are the same with and without each pass.
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "graph/text.h"
#include "graph/writer.h"
#include "passes/dependencies.h"
#include "passes/gather_chains.h"
#include "passes/pass.h"
#include "passes/split_batches.h"
#include "passes/split_rows.h"
#include "region_bodies.h"
#include "run_plan.h"
#include "scheduled_anew.h"
#include "split_graphs.h"
#include "tiny_model.h"
#include "tools/execute.h"

namespace shw {
namespace {

using testing::free_copies;
using testing::planned;
using testing::results_of;
using testing::scheduled_anew;
using testing::unscheduled;

// Gathers of parameters and all-reduces of gradients, fused as far as possible.
TEST(FusedCollectives, GiveTheSameBits) {
  for (const auto* model : {&testing::llama_tiny(), &testing::gpt2_tiny()})
    for (const char* mesh : {"dp=2,tp=4", "dp=8"}) {
      SCOPED_TRACE(mesh);
      const auto plain = model->plan_of({.mesh = mesh});
      ASSERT_NE(plain, nullptr);
      uint32_t gone = 0;
      const auto fused = scheduled_anew(*plain, 256, &gone);
      ASSERT_NE(fused, nullptr);
      EXPECT_GT(gone, 4u);
      const auto expected = tools::execute(plain, "step", model->tensors());
      const auto got = tools::execute(fused, "step", model->tensors());
      ASSERT_TRUE(expected.ok() && got.ok());
      for (const auto& [name, t] : *expected) EXPECT_EQ(t.bytes, got->at(name).bytes) << name;
    }
}

// Products whose contracted dim is sharded, and whose results are sharded along the same mesh dims.
TEST(FusedCollectives, ReduceScattersGiveTheSameBits) {
  const auto graph = parse_graph(
      "input input.0: %x : f32[8,8]\ninput input.1: %g : f32[8,8]\n"
      "%xt = t(%x) : f32[8,8]{1,8}\n%a = mm(%xt, %g) : f32[8,8]\n"
      "%y = tanh(%x) : f32[8,8]\n%yt = t(%y) : f32[8,8]{1,8}\n%b = mm(%yt, %g) : f32[8,8]\n"
      "%h = tanh(%g) : f32[8,8]\n%c = mm(%yt, %h) : f32[8,8]\n"
      "%n = neg(%c) : f32[8,8]\n"
      "return output.a = %a, output.b = %b, output.c = %n\n");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (const auto& [mesh, whole, part] :
       {std::tuple("a=4", "S(0)", "P"), std::tuple("a=2,b=2", "S(0)S(0)", "PP"),
        std::tuple("a=3", "S(0)", "P")}) {
    SCOPED_TRACE(mesh);
    CompileOptions options;
    options.mesh = mesh;
    options.input_layout = options.output_layout = whole;
    options.pins = {{"a", part}, {"b", part}, {"c", part}};
    const auto plain = planned(write_graph(*graph), options);
    ASSERT_NE(plain, nullptr);
    uint32_t gone = 0;
    const auto fused = scheduled_anew(*plain, 256, &gone);
    ASSERT_NE(fused, nullptr);
    EXPECT_EQ(gone, 2u);
    std::set<std::string> kernels;
    for (const ProgramStep& s : fused->program.steps) kernels.insert(s.kernel);
    EXPECT_TRUE(kernels.contains("cat") && kernels.contains("reduce_scatter"));
    EXPECT_EQ(results_of(fused), results_of(plain));
  }
}

// Replaces each all-gather along several mesh dims by one along the last of them, followed by one
// along the others. `twice`: the result of the second gather is unused, and a copy of the first
// gather's result is gathered again.
Plan with_gather_chains(const Plan& plan, bool twice, uint32_t* chains) {
  Plan other = plan;
  Program& p = other.program;
  std::vector<ProgramStep> steps;
  for (const ProgramStep& step : plan.program.steps) {
    steps.push_back(step);
    std::vector<uint8_t>& axes = steps.back().collective.axes;
    if (step.collective.kind != CollectiveKind::kAllGather || axes.size() < 2) continue;
    ++*chains;
    TensorType type = p.values[step.inputs[0]].type;
    const auto gathered = [&](int64_t ranks) {
      Dims shape = type.shape;
      shape.insert(0, ranks);
      return type = row_major(type.dtype, shape);
    };
    const int64_t all = p.values[step.outputs[0]].type.bytes() / type.bytes();
    const int64_t inner = p.mesh[axes.back()].size;
    const StorageId between = p.storages.push_back(
        {inner * p.values[step.inputs[0]].type.bytes(), StorageKind::kArena, UINT32_MAX, -1});
    const ValueId half = p.values.push_back({gathered(inner), between, 0});
    const ValueId whole =
        p.values.push_back({gathered(all / inner), p.values[step.outputs[0]].storage,
                            p.values[step.outputs[0]].offset_bytes});
    ProgramStep second = steps.back();
    axes = {axes.back()};
    steps.back().outputs = {half};
    second.collective.axes.pop_back();
    second.inputs = {half};
    second.outputs = {whole};
    if (twice) {
      const auto again = [&](ValueId v) {
        ProgramValue value = p.values[v];
        value.storage = p.storages.push_back(p.storages[value.storage]);
        return p.values.push_back(std::move(value));
      };
      ProgramStep copy;
      copy.kernel = "clone";
      copy.inputs = {half};
      copy.outputs = {again(half)};
      second.outputs = {again(whole)};
      steps.push_back(second);
      second.inputs = copy.outputs;
      second.outputs = {whole};
      steps.push_back(std::move(copy));
    }
    steps.push_back(std::move(second));
  }
  EXPECT_EQ(p.entries.size(), 1u);
  p.entries[0].num_steps = static_cast<uint32_t>(steps.size());
  p.steps = std::move(steps);
  return other;
}

TEST(GatherChains, GiveTheSameBits) {
  const auto& model = testing::llama_tiny();
  const auto plain = model.plan_of({.mesh = "dp=2,tp=2,cp=2", .input_layout = "S(0)RR"});
  ASSERT_NE(plain, nullptr);
  const auto expected = tools::execute(plain, "step", model.tensors());
  ASSERT_TRUE(expected.ok());
  for (const bool twice : {false, true}) {
    SCOPED_TRACE(twice);
    uint32_t chains = 0;
    Plan split = with_gather_chains(*plain, twice, &chains);
    EXPECT_GT(chains, 0u);
    const auto in_two = scheduled_anew(split, 256);
    EXPECT_EQ(fuse_gather_chains(split.program, free_copies()), chains);
    if (!twice) {
      static constexpr const PassDef* kDead[] = {&kDeadSteps};
      Monitor monitor;
      ASSERT_TRUE(run_passes(split.program, kDead, {}, monitor).ok());
    }
    const auto in_one = scheduled_anew(split, 256);
    ASSERT_TRUE(in_two != nullptr && in_one != nullptr);
    for (const auto& plan : {in_two, in_one}) {
      const auto got = tools::execute(plan, "step", model.tensors());
      ASSERT_TRUE(got.ok()) << got.status().message();
      for (const auto& [name, t] : *expected) EXPECT_EQ(t.bytes, got->at(name).bytes) << name;
    }
  }
}

// Compares the plan of the graph with the plan in which a pass has split steps.
void expect_same_bits(const Compiled& whole, const Plan& other, const char* graph,
                      const CompileOptions& options) {
  const auto parts = scheduled_anew(other, 256);
  ASSERT_NE(parts, nullptr);
  Compiled split = testing::compiled_text(graph, options);
  split.bytes = write_plan(*parts);
  EXPECT_EQ(testing::run_on_integers(whole, {}), testing::run_on_integers(split, {}));
}

// Collectives and products that run one sequence at a time (passes/split_batches.h).
TEST(SplitBatches, GiveTheSameBits) {
  CompileOptions options{.mesh = "dp=2,tp=2"};
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  const Compiled whole = testing::compiled_text(testing::kSequences, options);
  Plan other = unscheduled(whole.plan);
  const auto num_products = [](const Program& p) {
    return std::ranges::count(p.steps, "einsum", &ProgramStep::kernel);
  };
  EXPECT_EQ(num_products(other.program), 5);
  EXPECT_EQ(split_batches(other.program, free_copies()), 3u);  // two gathers, one scatter
  EXPECT_EQ(num_products(other.program), 2 + 3 * 4) << "dp leaves four sequences";
  expect_same_bits(whole, other, testing::kSequences, options);
}

// The same with one sequence: some of each rank's rows at a time (passes/split_rows.h).
TEST(SplitRows, GiveTheSameBits) {
  CompileOptions options{.mesh = "tp=4"};
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  const Compiled whole = testing::compiled_text(testing::kRows, options);
  Plan other = unscheduled(whole.plan);
  // Two gathers and a scatter. The product of a weight's gradient reads the gathered tensors whole.
  EXPECT_EQ(split_rows(other.program, free_copies()), 3u);
  EXPECT_EQ(std::ranges::count(other.program.steps, "einsum", &ProgramStep::kernel), 2 + 3 * 8);
  expect_same_bits(whole, other, testing::kRows, options);
}

// The plan's steps in sequence, in the order of the graph's nodes.
std::shared_ptr<const Plan> in_graph_order(const Plan& plan) {
  Plan other = plan;
  std::vector<ProgramStep>& steps = other.program.steps;
  const Dependencies needs(plan.program, plan.program.entries[0]);
  std::set<std::pair<uint32_t, uint32_t>> ready;  // node, step
  std::vector<size_t> held_up_by;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    held_up_by.push_back(needs.before(i).size());
    if (held_up_by[i] == 0) ready.emplace(steps[i].node, i);
  }
  for (ProgramStep& step : steps) {
    const uint32_t next = ready.begin()->second;
    ready.erase(ready.begin());
    step = plan.program.steps[next];
    for (uint32_t r : needs.after(next))
      if (--held_up_by[r] == 0) ready.emplace(plan.program.steps[r].node, r);
  }
  return scheduled_anew(other, std::nullopt);
}

// Products of weight gradients run while compute would otherwise wait (passes/fill_waits.h).
TEST(FilledWaits, GiveTheSameBits) {
  const auto products = [](const Plan& plan) {
    std::vector<uint32_t> nodes;
    for (const ProgramStep& s : plan.program.steps)
      if (s.kernel == "einsum" || s.kernel == "mm") nodes.push_back(s.node);
    return nodes;
  };
  for (const auto* model : {&testing::llama_tiny(), &testing::gpt2_tiny()})
    for (const char* mesh : {"dp=2,tp=4", "dp=2,cp=2,tp=2"}) {
      SCOPED_TRACE(mesh);
      const auto plan = model->plan_of({.mesh = mesh});
      ASSERT_NE(plan, nullptr);
      const auto plain = in_graph_order(*plan);
      ASSERT_NE(plain, nullptr);
      EXPECT_NE(products(*plan), products(*plain)) << "nothing was put off";
      const auto expected = tools::execute(plain, "step", model->tensors());
      const auto got = tools::execute(plan, "step", model->tensors());
      ASSERT_TRUE(expected.ok() && got.ok());
      for (const auto& [name, t] : *expected) EXPECT_EQ(t.bytes, got->at(name).bytes) << name;
    }
}
}  // namespace
}  // namespace shw
