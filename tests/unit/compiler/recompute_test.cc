// Compares what our policies keep of LLaMA-3 8B with two layers on 8x8 with what AutoParallel's
// first partition of the same model and mesh keeps (autoparallel a54c252, torch 2.14). Figures are
// the bytes of one rank between the passes. Each storage counts once; parameters, buffers and
// inputs do not count.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "graph/text.h"
#include "halves.h"
#include "packed.h"
#include "plan/report.h"
#include "recompute/cut.h"
#include "recompute/frontier.h"
#include "recompute/recompute.h"
#include "recompute/rules.h"
#include "rewrite/verify.h"
#include "unit/compiler/pytorch_answers.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

using testing::PyTorchAnswer;

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

// For each storage: whether it holds a value that depends only on parameters and is the result of a
// gather.
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
    graph->set_recompute(NodeId{n}, Recompute::kUnset);
  CompileOptions options;
  options.mesh = "dp=8,tp=8";
  options.input_layout = "S(0)R";
  options.output_layout = "S(0)S(2)";
  options.grad_reduce_dtype = Dtype::kF32;
  options.keep_graph = false;
  Monitor monitor;
  const std::vector<uint8_t> bytes = write_graph(*graph);
  const auto plain = testing::compile_packed(bytes, options, monitor);
  options.recompute = *recompute_policy(GetParam().policy);
  const auto compiled = testing::compile_packed(bytes, options, monitor);
  ASSERT_TRUE(plain.ok() && compiled.ok()) << compiled.status().message();
  const Program& p = compiled->plan.program;
  const Recomputation r = recomputation(p);
  EXPECT_LE(r.kept_bytes, GetParam().most_kept_bytes);
  EXPECT_LT(p.arena_bytes, plain->plan.program.arena_bytes);

  // Each parameter is gathered once in each direction, and no gathered parameter is kept.
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

  // Recomputed steps have prices. Forward steps that only the backward pass needs are left out of
  // forward.
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
// Walks backwards: a step runs again only if another repeated step needs its results.
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

// 32 layers on 16x8 with two sequences per rank, counted by the rule of AutoParallel's figures
// (halves.h), in GiB: what is kept, and the peaks of both halves. The figures are those of
// AutoParallel's first partitions; for `cheap` they are those of the smallest cut. The peaks of
// `full` are our own, because AutoParallel's are 1.24 and 1.61.
struct ReferenceFigures {
  const char* policy;
  bool tagged;
  double kept, forward_peak, backward_peak;
  friend void PrintTo(const ReferenceFigures& c, std::ostream* out) { *out << c.policy; }
};
class On128Ranks : public ::testing::TestWithParam<ReferenceFigures> {};
INSTANTIATE_TEST_SUITE_P(Policies, On128Ranks,
                         ::testing::Values(ReferenceFigures{"selective", true, 3.635, 4.25, 4.37},
                                           ReferenceFigures{"selective", false, 3.635, 4.25, 4.37},
                                           ReferenceFigures{"cheap", false, 15.15, 15.76, 15.88},
                                           ReferenceFigures{"full", false, 0.627, 1.9, 2.1}));

TEST_P(On128Ranks, NoMoreIsKeptAndLiveThanInTheReference) {
  auto graph = load_graph(testing::test_graph("examples/llama8b_L32_8x8_einsum"));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  for (uint32_t n = 0; n < graph->num_nodes() && !GetParam().tagged; ++n)
    graph->set_recompute(NodeId{n}, Recompute::kUnset);
  CompileOptions options{.mesh = "dp=16,tp=8", .keep_graph = false};
  options.input_layout = "S(0)R";
  options.output_layout = "S(0)S(2)";
  options.grad_reduce_dtype = Dtype::kF32;
  options.recompute = *recompute_policy(GetParam().policy);
  options.prefetch_bytes = 1 << 20;  // the figures predate early starts of collectives
  Monitor monitor;
  const auto compiled =
      testing::compile_packed(write_graph(testing::with_sequences(*graph, 32)), options, monitor);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const Program& p = compiled->plan.program;
  const testing::Halves halves(p);
  const auto gib = [](int64_t bytes) { return static_cast<double>(bytes) / 0x1p30; };
  EXPECT_LE(gib(recomputation(p).kept_bytes), GetParam().kept);
  EXPECT_LE(gib(halves.forward().peak_bytes), GetParam().forward_peak);
  EXPECT_LE(gib(halves.backward().peak_bytes), GetParam().backward_peak);
  for (const testing::Half& half : {halves.forward(), halves.backward()}) {
    EXPECT_EQ(half.gathers, 290u);
    EXPECT_EQ(half.gathered, 290u);
  }
}

struct PyTorchCase {
  const char *graph, *mesh;
  int64_t sequences;              // the graph itself has 16
  int64_t layers, tokens, width;  // tokens per rank
  const std::vector<PyTorchAnswer>* answers;
  friend void PrintTo(const PyTorchCase& c, std::ostream* out) { *out << c.graph << c.mesh; }
};

class RecomputedProducts : public ::testing::TestWithParam<PyTorchCase> {
 protected:
  // The graph without tags, and with the number of sequences of the case.
  static Graph graph() {
    auto graph = load_graph(testing::test_graph(GetParam().graph));
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    for (uint32_t n = 0; n < graph->num_nodes(); ++n)
      graph->set_recompute(NodeId{n}, Recompute::kUnset);
    return GetParam().sequences == 16 ? *std::move(graph)
                                      : testing::with_sequences(*graph, GetParam().sequences);
  }

  static Program program_of(const Graph& graph, Rules rules) {
    CompileOptions options{.mesh = GetParam().mesh};
    options.rules = rules;
    options.input_layout = "S(0)R";
    options.output_layout = "S(0)S(2)";
    options.grad_reduce_dtype = Dtype::kF32;
    Monitor monitor;
    auto compiled = testing::compile_packed(write_graph(graph), options, monitor);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    Program program = std::move(compiled->plan.program);
    drop_fused_groups(program);  // recomputation is chosen before groups exist
    return program;
  }

  // What the policies and the choices of auto keep.
  struct Answers {
    std::vector<Kept> all;
    Kept full, full_with_first_add;
  };
  static Answers answers_of(const Program& program, const Graph& graph) {
    Answers out;
    const auto joints = halves(program);
    EXPECT_TRUE(joints.ok() && joints->size() == 1);
    const Joint& joint = joints->front();
    const auto by_policy = [&](const char* name) {
      const auto rules = step_rules(joint, graph, *recompute_policy(name));
      return out.all.emplace_back(kept_by(joint, storages_to_repeat(joint, rules)));
    };
    for (const char* name : {"cheap", "selective"}) by_policy(name);
    out.full = by_policy("full");
    out.full_with_first_add = by_policy("full+first-add");
    Monitor monitor;
    const auto frontier = Frontier::of(joint, graph, monitor);
    EXPECT_TRUE(frontier.ok());
    const bool is_small = program.steps.size() < 2000;  // then auto has all choices in between
    for (uint32_t k = 0; k < frontier->num_choices(); ++k) {
      const bool is_last = k + 1 == frontier->num_choices();
      const uint32_t parts = is_last || !is_small ? 1 : frontier->num_parts(k);
      for (uint32_t p = 0; p < parts; ++p)
        out.all.push_back(kept_by(joint, frontier->choice(k, p)));
    }
    return out;
  }

  static void expect_no_worse(const std::vector<Kept>& ours) {
    for (const PyTorchAnswer& answer : *GetParam().answers) {
      Kept best{.bytes = INT64_MAX};
      for (const Kept& kept : ours)
        if (kept.flops <= static_cast<double>(answer.repeated_flops) && kept.bytes < best.bytes)
          best = kept;
      EXPECT_LE(best.bytes, answer.kept_bytes) << answer.name;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(
    Models, RecomputedProducts,
    ::testing::Values(PyTorchCase{"llama_tiny_2x4", "dp=2,tp=4", 16, 2, 256, 64,
                                  &testing::kTinyOn2x4},
                      PyTorchCase{"examples/llama8b_L2_8x8_einsum", "dp=8,tp=8", 16, 2, 2048, 4096,
                                  &testing::kTwoLayersOn8x8},
                      PyTorchCase{"examples/llama8b_L2_8x8_einsum", "dp=16,tp=8", 32, 2, 2048, 4096,
                                  &testing::kTwoLayersOn16x8},
                      PyTorchCase{"examples/llama8b_L32_8x8_einsum", "dp=8,tp=8", 16, 32, 2048,
                                  4096, &testing::k32LayersOn8x8},
                      PyTorchCase{"examples/llama8b_L32_8x8_einsum", "dp=16,tp=8", 32, 32, 2048,
                                  4096, &testing::k32LayersOn16x8}));

// For every answer of PyTorch, one of our policies or choices of auto keeps no more bytes and
// repeats no more floating-point operations of products.
TEST_P(RecomputedProducts, NoAnswerOfPyTorchKeepsLessForAsManyRepeatedProducts) {
  if (GetParam().width == 64) return;  // each step is dominated by its launch, not by products
  const Graph g = graph();
  const Answers ours = answers_of(program_of(g, Rules::kFull), g);
  expect_no_worse(ours.all);
  // The projection after attention is not repeated in any block.
  const auto [layers, tokens, width] =
      std::tuple(GetParam().layers, GetParam().tokens, GetParam().width);
  EXPECT_EQ(ours.full.flops - ours.full_with_first_add.flops,
            static_cast<double>(layers * 2 * tokens * width * width));
  EXPECT_EQ(ours.full_with_first_add.bytes - ours.full.bytes, layers * 2 * tokens * width);
}

// The same under AutoParallel's rules, with each repetition priced by its floating-point
// operations, as PyTorch does.
TEST_P(RecomputedProducts, TheSameIfRepetitionsCostTheirProducts) {
  const Graph g = graph();
  Program program = program_of(g, Rules::kCompat);
  for (ProgramStep& step : program.steps) step.cost_us = product_flops(program, step) / 1e6;
  expect_no_worse(answers_of(program, g).all);
}

}  // namespace
}  // namespace shw
