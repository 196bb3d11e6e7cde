// What policies keep of LLaMA-3 8B with two layers on 8x8, against what AutoParallel's first
// partition of the same model and mesh keeps (autoparallel a54c252, torch 2.14; bytes of a rank
// between the passes, each storage once, without parameters, buffers and inputs).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "plan/report.h"
#include "recompute/cut.h"
#include "recompute/frontier.h"
#include "recompute/recompute.h"
#include "recompute/rules.h"
#include "rewrite/verify.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

struct PolicyCase {
  const char* policy;
  bool tagged;  // the graph's tags are those of the per-op selective policy
  int64_t most_kept_bytes;
  friend void PrintTo(const PolicyCase& c, std::ostream* out) { *out << c.policy; }
};

class Recomputed : public ::testing::TestWithParam<PolicyCase> {};
INSTANTIATE_TEST_SUITE_P(Policies, Recomputed,
                         ::testing::Values(PolicyCase{"cheap", false, 1159241760},
                                           PolicyCase{"cheap", true, 496508960},
                                           PolicyCase{"selective", false, 243430560},
                                           PolicyCase{"full", false, 168828928}));

// By storage: whether it holds what depends on parameters alone, and a gather has been made for it.
std::vector<uint8_t> gathered_parameters(const Program& p) {
  std::vector<uint8_t> of_parameters(p.storages.size(), 0), gathered(p.storages.size(), 0);
  for (const Port& port : p.ports)
    if (port.role == PortRole::kParameter) of_parameters[p.values[port.value].storage.v] = 1;
  for (const ProgramStep& step : p.steps) {
    bool all = !step.inputs.empty(), any = step.collective.kind == CollectiveKind::kAllGather;
    for (ValueId v : step.inputs) {
      if (!v.valid()) continue;
      all &= of_parameters[p.values[v].storage.v] != 0;
      any |= gathered[p.values[v].storage.v] != 0;
    }
    for (ValueId v : step.outputs) {
      if (!v.valid()) continue;
      of_parameters[p.values[v].storage.v] = all;
      gathered[p.values[v].storage.v] = all && any;
    }
  }
  return gathered;
}

TEST_P(Recomputed, KeepsNoMoreThanTheReference) {
  auto graph = load_graph(testing::test_graph("examples/llama8b_L2_8x8_einsum"));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (uint32_t n = 0; n < graph->num_nodes() && !GetParam().tagged; ++n)
    graph->meta(NodeId{n}).recompute = Recompute::kUnset;
  CompileOptions options;
  options.mesh = "dp=8,tp=8";
  options.input_layout = "S(0)R";
  options.output_layout = "S(0)S(2)";
  options.grad_reduce_dtype = Dtype::kF32;
  options.keep_graph = false;
  Monitor monitor;
  const std::vector<uint8_t> bytes = write_graph(*graph);
  const auto plain = compile(bytes, options, monitor);
  options.recompute = *recompute_policy(GetParam().policy);
  const auto compiled = compile(bytes, options, monitor);
  ASSERT_TRUE(plain.ok() && compiled.ok()) << compiled.status().message();
  const Program& p = compiled->plan.program;
  const Recomputation r = recomputation(p);
  EXPECT_LE(r.kept_bytes, GetParam().most_kept_bytes);
  EXPECT_LT(p.arena_bytes, plain->plan.program.arena_bytes);

  // Each parameter is gathered once in each direction, and no gathered one is kept.
  const std::vector<uint8_t> gathered = gathered_parameters(p);
  std::vector<uint8_t> written_forward(p.storages.size(), 0);
  uint32_t gathers[2] = {0, 0};
  for (const ProgramStep& step : p.steps) {
    for (ValueId v : step.inputs)
      if (v.valid() && step.phase != 0) {
        const uint32_t s = p.values[v].storage.v;
        EXPECT_FALSE(gathered[s] && written_forward[s]) << to_string(p.values[v].type);
      }
    for (ValueId v : step.outputs)
      if (v.valid() && step.phase == 0) written_forward[p.values[v].storage.v] = 1;
    if (step.collective.kind == CollectiveKind::kAllGather)
      gathers[step.phase] += gathered[p.values[step.outputs[0]].storage.v];
  }
  EXPECT_EQ(gathers[0], 20u);
  EXPECT_EQ(gathers[1], 20u);

  // Repetitions have prices; forward steps that only the backward pass reads are left out.
  EXPECT_GT(program_cost(p).us, program_cost(plain->plan.program).us);
  EXPECT_LE(program_cost(p).us, program_cost(plain->plan.program).us + r.us + 1e-6 * r.us);
}

// Floating-point operations of a matrix product, 2·m·n·k, and of attention, 4·b·h·s²·d.
double product_flops(const Program& p, const ProgramStep& step) {
  if (step.kernel == "sdpa") {
    const auto& q = p.values[step.inputs[0]].type.shape;
    return 4.0 * static_cast<double>(q[0] * q[1] * q[2] * q[2] * q[3]);
  }
  if (step.kernel != "einsum" && step.kernel != "mm") return 0;
  double squared = 1;  // (m·k)(k·n)(m·n)
  for (ValueId v : {step.inputs[0], step.inputs[1], step.outputs[0]})
    for (int64_t d : p.values[v].type.shape) squared *= static_cast<double>(d);
  return 2 * std::sqrt(squared);
}

struct Kept {
  int64_t bytes = 0;
  double flops = 0;  // of repeated products
};
// Backwards: a step runs again only if something needs its results again.
Kept kept_by(const Joint& joint, const std::vector<uint8_t>& again) {
  Kept kept;
  std::vector<uint8_t> needed(again.size(), 0);
  for (uint32_t s = 0; s < again.size(); ++s)
    needed[s] = joint.is_forward(StorageId{s}) && joint.is_read_backward(StorageId{s});
  for (uint32_t i = joint.num_steps(); i-- > 0;) {
    if (joint.is_backward(i)) continue;
    bool repeats = false;
    joint.for_outputs(i, [&](StorageId s) { repeats |= needed[s.v] && again[s.v]; });
    if (!repeats) continue;
    kept.flops += product_flops(joint.program(), joint.step(i));
    joint.for_inputs(i, [&](StorageId s) { needed[s.v] |= joint.is_forward(s); });
  }
  for (uint32_t s = 0; s < again.size(); ++s)
    if (needed[s] && !again[s]) kept.bytes += joint.program().storages[StorageId{s}].bytes;
  return kept;
}

// What PyTorch 2.14 saves for a model and mesh, and the products that its backward graph has more
// than with min-cut alone.
struct PyTorchAnswer {
  const char* name;
  int64_t bytes;
  double gigaflops;
};
struct PyTorchCase {
  const char *graph, *mesh;
  std::vector<PyTorchAnswer> answers;
  int64_t layers;
  friend void PrintTo(const PyTorchCase& c, std::ostream* out) { *out << c.graph; }
};

class RecomputedProducts : public ::testing::TestWithParam<PyTorchCase> {};
INSTANTIATE_TEST_SUITE_P(
    Models, RecomputedProducts,
    ::testing::Values(PyTorchCase{"llama8b_L2_8x8_einsum",
                                  "dp=8,tp=8",
                                  {{"min-cut", 1159241760, 0},
                                   {"memory budget 0.75", 1023426560, 549.8},
                                   {"memory budget 0.5", 998260736, 652.8},
                                   {"memory budget 0.25", 985677824, 704.4},
                                   {"per op", 496508960, 652.8},
                                   {"per op, first add of a block kept", 530063392, 515.4},
                                   {"per op, staged by memory", 243433504, 652.8},
                                   {"staged by memory, without tags", 360874016, 824.6},
                                   {"full", 168828928, 2095.9}},
                                  2},
                      PyTorchCase{"llama8b_L32_8x8_einsum",
                                  "dp=8,tp=8",
                                  {{"min-cut", 16267092480, 0},
                                   {"memory budget 0.5", 14361313280, 8796.1},
                                   {"memory budget 0.25", 13363068928, 12884.9},
                                   {"per op", 3901760000, 10445.4},
                                   {"per op, staged by memory", 3648684544, 10445.4},
                                   {"staged by memory, without tags", 5443846656, 11648.0},
                                   {"full", 672145408, 29927.3}},
                                  32}));

// A policy, or a choice of auto, is no worse than each of PyTorch's answers.
TEST_P(RecomputedProducts, NoAnswerOfPyTorchKeepsLessForAsManyRepeatedProducts) {
  auto graph = load_graph(testing::test_graph(std::string("examples/") + GetParam().graph));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (uint32_t n = 0; n < graph->num_nodes(); ++n)
    graph->meta(NodeId{n}).recompute = Recompute::kUnset;
  CompileOptions options{.mesh = GetParam().mesh};
  options.input_layout = "S(0)R";
  options.output_layout = "S(0)S(2)";
  options.grad_reduce_dtype = Dtype::kF32;
  Monitor monitor;
  const auto compiled = compile(write_graph(*graph), options, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  Program program = compiled->plan.program;
  drop_fused_groups(program);  // what is repeated is chosen before there are groups
  const auto joints = halves(program);
  ASSERT_TRUE(joints.ok() && joints->size() == 1);
  const Joint& joint = joints->front();

  std::vector<Kept> ours;
  const auto by_policy = [&](const char* name) {
    const auto rules = step_rules(joint, *graph, *recompute_policy(name));
    return kept_by(joint, storages_to_repeat(joint, rules));
  };
  for (const char* name : {"cheap", "selective", "full", "full+first-add"})
    ours.push_back(by_policy(name));
  // The projection behind attention is not repeated, in none of the blocks.
  const Kept full = ours[2], with_first_add = ours[3];
  constexpr int64_t kTokens = 2048, kWidth = 4096;  // of a rank
  EXPECT_EQ(full.flops - with_first_add.flops,
            static_cast<double>(GetParam().layers * 2 * kTokens * kWidth * kWidth));
  EXPECT_EQ(with_first_add.bytes - full.bytes, GetParam().layers * 2 * kTokens * kWidth);
  const auto frontier = Frontier::of(joint, *graph, monitor);
  ASSERT_TRUE(frontier.ok());
  for (uint32_t k = 0; k < frontier->num_choices(); ++k)
    ours.push_back(kept_by(joint, frontier->choice(k)));

  for (const PyTorchAnswer& answer : GetParam().answers) {
    SCOPED_TRACE(answer.name);
    EXPECT_TRUE(std::ranges::any_of(ours, [&](const Kept& kept) {
      return kept.bytes <= answer.bytes && kept.flops <= 1e9 * answer.gigaflops + 1e8;
    }));
  }
}

}  // namespace
}  // namespace shw
