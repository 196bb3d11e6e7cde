// What the backward pass computes again: programs with and without give the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "graph/text.h"
#include "graph/writer.h"
#include "passes/dependencies.h"
#include "passes/fuse_collectives.h"
#include "passes/gather_chains.h"
#include "passes/pass.h"
#include "passes/split_batches.h"
#include "passes/split_rows.h"
#include "plan/placements.h"
#include "plan/report.h"
#include "recompute/offload.h"
#include "recompute/shorten_lives.h"
#include "region_bodies.h"
#include "run_plan.h"
#include "simulate/simulate.h"
#include "tiny_model.h"
#include "tools/execute.h"
#include "unscheduled.h"

namespace shw {
namespace {

using runtime::HostTensorView;
using testing::planned;
using testing::ranks_of;

constexpr const char* kPolicies[] = {"cheap", "selective", "full", "every:2", "full+gathered"};

CompileOptions with(CompileOptions options, const std::string& policy) {
  options.recompute = *recompute_policy(policy);
  return options;
}

// A random graph on f32[8,8]: products, pointwise ops, dropout, a parameter that a backward node
// updates in place, tags, and blocks of three nodes.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {
    text_ =
        "input param.w: %w : f32[8,8]\ninput param.u: %u : f32[8,8]\ninput input.0: %x : f32[8,8]\n"
        "input tangent.0: %g : f32[8,8] {position=0}\n";
    forward_ = {"%w", "%u", "%x"};
    tagged_ = random_() % 2 == 0;
    blocks_ = random_() % 2 == 0;
    for (block_ = 0; block_ < 4; ++block_)
      for (int i = 0; i < 3; ++i) add(false);
    backward_ = {"%g"};
    const auto update_at = static_cast<uint32_t>(random_() % 24);  // half of them: none
    for (uint32_t i = 0; i < 12; ++i) {
      add(true);
      if (i == update_at)
        line("%new", "add(%w, " + backward_.back() + ") : f32[8,8] {phase=backward}");
    }
    text_ += "return output.0 = " + forward_.back() + ", grad.u = " + backward_.back() +
             ", output.b = " + backward_[6] +
             (update_at < 12 ? ", update.w = %new in_place\n" : "\n");
  }
  const std::string& text() const { return text_; }

 private:
  const std::string& any_of(const std::vector<std::string>& list) {
    return list[list.size() - 1 - random_() % std::min<size_t>(list.size(), 6)];
  }
  void line(const std::string& name, const std::string& what) {
    text_ += name + " = " + what + "\n";
  }
  std::string meta(bool backward) {
    std::string text = backward ? "phase=backward" : "";
    const auto item = [&](const std::string& s) { text += (text.empty() ? "" : ", ") + s; };
    if (!backward && blocks_) item("module=\"layers." + std::to_string(block_) + ".a\"");
    static constexpr const char* kTags[] = {"must_save", "prefer_recompute", "must_recompute"};
    if (!backward && tagged_ && random_() % 3 == 0)
      item(std::string("recompute=") + kTags[random_() % 3]);
    return text.empty() ? "" : " {" + text + "}";
  }

  void add(bool backward) {
    const std::string name = "%v" + std::to_string(number_++);
    const std::string a = backward && random_() % 2 == 0 ? any_of(backward_) : any_of(forward_);
    const std::string b = backward ? any_of(backward_) : any_of(forward_), end = " : f32[8,8]";
    switch (random_() % (masks_.empty() || !backward ? 6 : 7)) {
      case 0:
        line(name + "t", "t(" + a + ") : f32[8,8]{1,8}" + meta(backward));
        line(name, "mm(" + name + "t, " + b + ")" + end + meta(backward));
        break;
      case 1:
        line(name, "mm(" + a + ", " + b + ")" + end + meta(backward));
        break;
      case 2:
        line(name, "mul(" + a + ", " + b + ")" + end + meta(backward));
        break;
      case 3:
        line(name, "softmax(" + b + ", dim=1, half_to_float=false)" + end + meta(backward));
        break;
      case 4:
        line(name + "d", "native_dropout(" + b + ", p=0.5, train=true) : (f32[8,8], bool[8,8])" +
                             meta(backward));
        line(name, "get_item(" + name + "d, index=0)" + end + meta(backward));
        line(name + "m", "get_item(" + name + "d, index=1) : bool[8,8]" + meta(backward));
        if (!backward) masks_.push_back(name + "m");
        break;
      case 5:
        line(name, "tanh(" + b + ")" + end + meta(backward));
        break;
      case 6:
        line(name, "native_dropout_backward(" + b + ", " + any_of(masks_) + ", scale=2.0)" + end +
                       meta(backward));
    }
    (backward ? backward_ : forward_).push_back(name);
  }

  std::mt19937 random_;
  bool tagged_ = false, blocks_ = false;
  int block_ = 0, number_ = 0;
  std::string text_;
  std::vector<std::string> forward_, backward_, masks_;
};

std::vector<std::vector<std::byte>> run(const std::shared_ptr<const Plan>& plan) {
  std::vector<std::vector<std::byte>> results;
  const auto ranks = ranks_of(plan);
  if (ranks == nullptr) return results;
  std::vector<float> data(64);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>((i * 37) % 29) / 29 - 0.5f;
  const int64_t seed[2] = {7, 3};
  std::vector<HostTensorView> in;
  const ProgramEntry& entry = plan->program.entries[0];
  for (PortId id : entry.inputs) {
    const Port& port = plan->program.ports[id];
    in.push_back({port.global, port.role == PortRole::kSeed
                                   ? static_cast<const void*>(seed)
                                   : static_cast<const void*>(data.data())});
  }
  const auto out = ranks->run(entry.name, in);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (out.ok())
    for (const auto& tensor : *out) results.push_back(tensor.data);
  return results;
}

// All collectives that can be fused are: communication is dear, and copies are free.
FusePrices free_copies() {
  return {[](CollectiveKind, uint32_t, int64_t) { return 1.0; }, [](int64_t) { return 0.0; }};
}

// The plan's steps one after another on one stream.
Plan unscheduled(const Plan& plan) {
  Plan other = plan;
  testing::unschedule(other.program);
  return other;
}

// On one stream, or with collectives started again, no more than so many compute steps early.
// `fused`: adds how many collectives are gone because they are fused.
std::shared_ptr<const Plan> scheduled_anew(const Plan& plan, std::optional<uint32_t> depth,
                                           uint32_t* fused = nullptr) {
  Plan other = unscheduled(plan);
  Program& p = other.program;
  if (fused != nullptr)
    *fused += fuse_collectives(p, {.bytes = 1 << 20, .scatter_bytes = 1 << 20, .steps = UINT32_MAX},
                               free_copies());
  std::vector<const PassDef*> passes;
  if (depth) passes.push_back(&kScheduleCollectives);
  passes.push_back(&kPlanMemory);
  p.prefetch_depth = depth.value_or(0);
  Monitor monitor;
  const auto reports = run_passes(p, passes, monitor);
  EXPECT_TRUE(reports.ok()) << reports.status().message();
  auto read = read_plan(write_plan(other));
  EXPECT_TRUE(read.ok()) << read.status().message();
  return read.ok() ? std::make_shared<const Plan>(std::move(*read)) : nullptr;
}

// With all that the link can carry in host memory; a copy takes no longer than a step. Adds its
// bytes.
Plan with_host_memory(const Plan& plan, int64_t* moved) {
  Plan other = unscheduled(plan);
  *moved += offload(other.program, {[](int64_t bytes) { return bytes > 0 ? 1.0 : 0.5; }, 1 << 30});
  return other;
}

// Lives as short as they get: steps again, later, and in parts; `products`: these, too.
Plan with_shorter_lives(const Plan& plan, bool products, uint32_t* changed) {
  Plan other = unscheduled(plan);
  const size_t before = other.program.steps.size();
  const int64_t peak_bytes = shorten_lives(other.program, INT64_MAX, {}).peak_bytes;
  const ShortenedLives lives =
      shorten_lives(other.program, 0, {.copy_us = products ? free_copies().copy_us : nullptr});
  EXPECT_LE(lives.peak_bytes, peak_bytes);
  *changed += other.program.steps.size() > before && lives.peak_bytes < peak_bytes;
  return other;
}

TEST(Recompute, RandomGraphsGiveTheSameBits) {
  int64_t in_host = 0;
  uint32_t shortened = 0;
  uint32_t repeating = 0, updating = 0, communicating = 0, fused = 0;
  for (uint32_t seed = 0; seed < 16; ++seed) {
    const std::string text = RandomGraph(seed).text();
    SCOPED_TRACE(text);
    const auto graph = parse_graph(text);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const std::vector<uint8_t> bytes = write_graph(*graph);
    CompileOptions options;
    options.mesh = seed % 3 == 0 ? "a=1" : seed % 3 == 1 ? "a=2,b=2" : "a=4";
    const auto plain = planned(bytes, options);
    ASSERT_NE(plain, nullptr);
    EXPECT_EQ(recomputation(plain->program).steps, 0u);
    const auto expected = run(plain);
    ASSERT_FALSE(expected.empty());
    communicating += plain->program.streams.size() > 1;
    for (const std::optional<uint32_t> depth : {std::optional<uint32_t>(), {0u}, {3u}}) {
      const auto other = scheduled_anew(*plain, depth);
      ASSERT_NE(other, nullptr);
      EXPECT_EQ(run(other), expected);
      const auto with_fused = scheduled_anew(*plain, depth, &fused);
      ASSERT_NE(with_fused, nullptr);
      EXPECT_EQ(run(with_fused), expected);
      const auto with_host = scheduled_anew(with_host_memory(*plain, &in_host), depth);
      ASSERT_NE(with_host, nullptr);
      EXPECT_EQ(run(with_host), expected);
      const auto shorter =
          scheduled_anew(with_shorter_lives(*plain, seed % 2 == 0, &shortened), depth);
      ASSERT_NE(shorter, nullptr);
      EXPECT_EQ(run(shorter), expected);
    }
    for (const char* policy : kPolicies) {
      SCOPED_TRACE(policy);
      const auto plan = planned(bytes, with(options, policy));
      ASSERT_NE(plan, nullptr);
      EXPECT_EQ(run(plan), expected);
      const auto shorter = scheduled_anew(with_shorter_lives(*plan, true, &shortened), 3u);
      ASSERT_NE(shorter, nullptr);
      EXPECT_EQ(run(shorter), expected);
      repeating += recomputation(plan->program).steps > 0;
      for (const ProgramStep& s : plan->program.steps) updating += s.in_place != kNotInPlace;
    }
  }
  EXPECT_GT(repeating, 32u) << "the graphs do not try what they are for";
  EXPECT_GT(in_host, 32 * 256);
  EXPECT_GT(shortened, 32u);
  EXPECT_GT(updating, 8u);
  EXPECT_GT(communicating, 4u);
  EXPECT_GT(fused, 4u);
}

// Gathers of parameters and all-reduces of gradients, fused as far as can be.
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

// Products whose contracted dim is cut, and results that are cut along the same mesh dims.
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
    EXPECT_EQ(run(fused), run(plain));
  }
}

// Each all-gather along several mesh dims as one along the last of them, then one along the others.
// `twice`: nothing needs that one's result; a copy of what the first one has left is gathered
// again.
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
      ASSERT_TRUE(run_passes(split.program, kDead, monitor).ok());
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

// Sequence parallelism: tokens are gathered for the first product, and the second one's sums
// scattered.
constexpr const char* kSequences = R"swt(
input param.up: %up : f32[16,24]
input param.down: %down : f32[24,16]
input input.0: %x : f32[8,12,16]
input tangent.0: %g : f32[8,12,16] {phase=backward}
%xs = sharding_constraint(%x, placements="S(0)S(1)") : f32[8,12,16]
%all = sharding_constraint(%xs, placements="S(0)R") : f32[8,12,16]
%w = sharding_constraint(%up, placements="RS(1)") : f32[16,24]
%h = einsum(%all, %w, equation="abk,kn->abn") : f32[8,12,24]
%v = sharding_constraint(%down, placements="RS(0)") : f32[24,16]
%y = einsum(%h, %v, equation="abk,kn->abn") : f32[8,12,16]
%ys = sharding_constraint(%y, placements="S(0)S(1)") : f32[8,12,16]
%n = neg(%ys) : f32[8,12,16]
%gs = sharding_constraint(%g, placements="S(0)S(1)") : f32[8,12,16] {phase=backward}
%ga = sharding_constraint(%gs, placements="S(0)R") : f32[8,12,16] {phase=backward}
%dh = einsum(%ga, %v, equation="abn,kn->abk") : f32[8,12,24] {phase=backward}
%dv = einsum(%h, %ga, equation="abk,abn->kn") : f32[24,16] {phase=backward}
%dw = einsum(%all, %dh, equation="abk,abn->kn") : f32[16,24] {phase=backward}
return output.0 = %n, grad.up = %dw, grad.down = %dv
)swt";

// Collectives and products one sequence at a time (passes/split_batches.h).
TEST(SplitBatches, GiveTheSameBits) {
  CompileOptions options{.mesh = "dp=2,tp=2"};
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  const Compiled whole = testing::compiled_text(kSequences, options);
  Plan other = unscheduled(whole.plan);
  const auto num_products = [](const Program& p) {
    return std::ranges::count(p.steps, "einsum", &ProgramStep::kernel);
  };
  EXPECT_EQ(num_products(other.program), 5);
  EXPECT_EQ(split_batches(other.program, free_copies()), 3u);  // two gathers, a scatter
  EXPECT_EQ(num_products(other.program), 2 + 3 * 4) << "dp leaves four sequences";
  const auto parts = scheduled_anew(other, 256);
  ASSERT_NE(parts, nullptr);
  Compiled split = testing::compiled_text(kSequences, options);
  split.bytes = write_plan(*parts);
  EXPECT_EQ(testing::run_on_integers(whole, {}), testing::run_on_integers(split, {}));
}

// The same with one sequence: of each rank's rows, some at a time (passes/split_rows.h).
constexpr const char* kRows = R"swt(
input param.up: %up : f32[16,24]
input param.down: %down : f32[24,16]
input input.0: %x : f32[96,16]
input tangent.0: %g : f32[96,16] {phase=backward}
%xs = sharding_constraint(%x, placements="S(0)") : f32[96,16]
%all = sharding_constraint(%xs, placements="R") : f32[96,16]
%w = sharding_constraint(%up, placements="S(1)") : f32[16,24]
%h = einsum(%all, %w, equation="ak,kn->an") : f32[96,24]
%v = sharding_constraint(%down, placements="S(0)") : f32[24,16]
%y = einsum(%h, %v, equation="ak,kn->an") : f32[96,16]
%ys = sharding_constraint(%y, placements="S(0)") : f32[96,16]
%n = neg(%ys) : f32[96,16]
%gs = sharding_constraint(%g, placements="S(0)") : f32[96,16] {phase=backward}
%ga = sharding_constraint(%gs, placements="R") : f32[96,16] {phase=backward}
%dh = einsum(%ga, %v, equation="an,kn->ak") : f32[96,24] {phase=backward}
%dv = einsum(%h, %ga, equation="ak,an->kn") : f32[24,16] {phase=backward}
%dw = einsum(%all, %dh, equation="ak,an->kn") : f32[16,24] {phase=backward}
return output.0 = %n, grad.up = %dw, grad.down = %dv
)swt";

TEST(SplitRows, GiveTheSameBits) {
  CompileOptions options{.mesh = "tp=4"};
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  const Compiled whole = testing::compiled_text(kRows, options);
  Plan other = unscheduled(whole.plan);
  // Two gathers, which a product of a weight's gradient reads whole, and a scatter.
  EXPECT_EQ(split_rows(other.program, free_copies()), 3u);
  EXPECT_EQ(std::ranges::count(other.program.steps, "einsum", &ProgramStep::kernel), 2 + 3 * 8);
  const auto parts = scheduled_anew(other, 256);
  ASSERT_NE(parts, nullptr);
  Compiled split = testing::compiled_text(kRows, options);
  split.bytes = write_plan(*parts);
  EXPECT_EQ(testing::run_on_integers(whole, {}), testing::run_on_integers(split, {}));
}

// The plan's steps one after another, in the order of the graph's nodes.
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

// Products of weights' gradients run where compute would wait (passes/fill_waits.h).
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

// Of two f32 tensors, as a share of the largest element.
double largest_difference(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  double most = 0, difference = 0;
  for (size_t at = 0; at + 4 <= std::min(a.size(), b.size()); at += 4) {
    float x, y;
    std::memcpy(&x, a.data() + at, 4);
    std::memcpy(&y, b.data() + at, 4);
    most = std::max(most, std::abs(double{x}));
    difference = std::max(difference, std::abs(double{x} - double{y}));
  }
  return difference / std::max(most, 1e-30);
}

// PyTorch's results, and bit by bit those of the program without.
class TinyModels : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Policies, TinyModels, ::testing::ValuesIn(kPolicies),
                         [](const auto& c) { return testing::test_name(c.param); });

TEST_P(TinyModels, GiveTheSameBitsFromLessMemory) {
  for (const auto* model : {&testing::llama_tiny(), &testing::gpt2_tiny()}) {
    // The schedule may spend more than these models take, so it gets nothing to spend.
    const CompileOptions options{.mesh = "dp=2,tp=4", .prefetch_bytes = 1};
    const auto plain = model->plan_of(options), plan = model->plan_of(with(options, GetParam()));
    ASSERT_TRUE(plain && plan);
    const auto expected = tools::execute(plain, "step", model->tensors());
    const auto got = tools::execute(plan, "step", model->tensors());
    ASSERT_TRUE(expected.ok() && got.ok());
    for (const auto& [name, t] : *expected) EXPECT_EQ(t.bytes, got->at(name).bytes) << name;
    EXPECT_GT(recomputation(plan->program).steps, 0u);
    EXPECT_LT(recomputation(plan->program).kept_bytes, recomputation(plain->program).kept_bytes);
    EXPECT_LT(plan->program.arena_bytes, plain->program.arena_bytes);
  }
}

// The same bits, or where products are done in parts, within rounding: for another number of rows a
// kernel may add in another order.
TEST_P(TinyModels, GiveTheSameWithShorterLives) {
  for (const auto* model : {&testing::llama_tiny(), &testing::gpt2_tiny()}) {
    const auto plan = model->plan_of(with({.mesh = "dp=2,tp=4"}, GetParam()));
    ASSERT_NE(plan, nullptr);
    const auto expected = tools::execute(plan, "step", model->tensors());
    for (const bool products : {false, true}) {
      uint32_t shortened = 0;
      const auto shorter = scheduled_anew(with_shorter_lives(*plan, products, &shortened), 256u);
      ASSERT_NE(shorter, nullptr);
      EXPECT_EQ(shortened, 1u);
      const auto got = tools::execute(shorter, "step", model->tensors());
      ASSERT_TRUE(expected.ok() && got.ok());
      for (const auto& [name, t] : *expected) {
        const double most = products ? 5e-6 : 0;
        EXPECT_LE(largest_difference(t.bytes, got->at(name).bytes), most) << name;
      }
    }
  }
}

// ---- forward and backward as entries of their own

// By port: what forward and then backward return, in one session.
std::map<std::string, std::vector<std::byte>> run_apart(const std::shared_ptr<const Plan>& plan,
                                                        const import::TensorFile& tensors) {
  std::map<std::string, std::vector<std::byte>> results;
  const auto ranks = ranks_of(plan);
  for (const ProgramEntry& e : plan->program.entries) {
    if (ranks == nullptr || e.name == "infer") continue;
    const auto in = tools::bind_inputs(plan->program, e, tensors);
    EXPECT_TRUE(in.ok()) << in.status().message();
    if (!in.ok()) break;
    const auto out = ranks->run(e.name, *in);
    EXPECT_TRUE(out.ok()) << out.status().message();
    for (size_t i = 0; out.ok() && i < out->size(); ++i)
      results[plan->program.ports[e.outputs[i]].name] = (*out)[i].data;
  }
  return results;
}

// The parameters that an entry gathers, and how often it gathers one.
struct Gathers {
  uint32_t count = 0;
  std::set<uint32_t> parameters;
};
Gathers gathers_of(const Program& p, const ProgramEntry& entry) {
  constexpr uint32_t kNothing = UINT32_MAX, kMany = UINT32_MAX - 1;
  std::vector<uint32_t> of(p.storages.size(), kMany);  // the one parameter that it depends on
  for (uint32_t i = 0; i < p.ports.size(); ++i)
    if (p.ports[PortId{i}].role == PortRole::kParameter)
      of[p.values[p.ports[PortId{i}].value].storage.v] = i;
  Gathers gathers;
  for (uint32_t k = 0; k < entry.num_steps; ++k) {
    const ProgramStep& step = p.steps[entry.first_step + k];
    uint32_t from = kNothing;
    for (ValueId v : step.inputs)
      if (v.valid() && from != of[p.values[v].storage.v])
        from = from == kNothing ? of[p.values[v].storage.v] : kMany;
    for (ValueId v : step.outputs)
      if (v.valid()) of[p.values[v].storage.v] = from;
    if (step.collective.kind != CollectiveKind::kAllGather || from >= kMany) continue;
    ++gathers.count;
    gathers.parameters.insert(from);
  }
  return gathers;
}

TEST(RecomputeApart, BackwardRepeatsWhatForwardDidNotKeep) {
  for (const auto* model : {&testing::llama_tiny(), &testing::gpt2_tiny()}) {
    CompileOptions options{.mesh = "dp=2,tp=4", .entries = {"forward", "backward", "infer"}};
    const auto plain = model->plan_of(options);
    ASSERT_NE(plain, nullptr);
    const auto expected = run_apart(plain, model->tensors());
    ASSERT_GT(expected.size(), 2u);
    for (const char* policy : {"selective", "full", "full+gathered"}) {
      SCOPED_TRACE(policy);
      const auto plan = model->plan_of(with(options, policy));
      ASSERT_NE(plan, nullptr);
      const Program& p = plan->program;
      EXPECT_EQ(run_apart(plan, model->tensors()), expected);
      EXPECT_GT(recomputation(p).steps, 0u);
      EXPECT_LT(p.session_bytes, plain->program.session_bytes);
      for (const ProgramEntry& e : p.entries)
        for (uint32_t k = 0; k < e.num_steps; ++k) {
          const ProgramStep& step = p.steps[e.first_step + k];
          EXPECT_TRUE(!step.recomputed || e.name == "backward");
          for (ValueId v : step.outputs)
            EXPECT_FALSE(e.name != "forward" && p.lies_in(v, StorageKind::kSession));
        }
    }
  }
}

// Forward gathers each parameter once, and backward once more; it has no use for the table that
// tokens are looked up in.
TEST(RecomputeApart, GathersOfParametersAreAsManyAsParameters) {
  CompileOptions options{.mesh = "dp=2,tp=4", .entries = {"forward", "backward"}};
  const auto plan = testing::llama_tiny().plan_of(with(options, "full"));
  ASSERT_NE(plan, nullptr);
  const Program& p = plan->program;
  Gathers forward = gathers_of(p, p.entries[0]);
  const Gathers backward = gathers_of(p, p.entries[1]);
  EXPECT_GT(forward.count, 10u);
  EXPECT_EQ(forward.count, forward.parameters.size());
  EXPECT_EQ(backward.count, backward.parameters.size());
  std::erase_if(forward.parameters, [&](uint32_t port) {
    return p.ports[PortId{port}].name.find("tok_embeddings") != std::string::npos;
  });
  EXPECT_EQ(backward.parameters, forward.parameters);
}

// Under the same placements, because others may round differently.
TEST(RecomputeAuto, GivesTheSameBitsFromLessMemory) {
  for (const std::vector<std::string>& entries :
       {std::vector<std::string>{"step"}, std::vector<std::string>{"forward", "backward"}}) {
    CompileOptions options = with({.mesh = "dp=2,tp=4", .entries = entries}, "auto");
    options.memory_limit_bytes = int64_t{1} << 40;
    const auto plain = testing::llama_tiny().plan_of(options);
    ASSERT_NE(plain, nullptr);
    options.placements = placements_json(*plain);
    options.memory_limit_bytes = plain->summary.memory_program_bytes * 4 / 5;
    const auto plan = testing::llama_tiny().plan_of(options);
    ASSERT_NE(plan, nullptr);
    EXPECT_LE(plan->summary.memory_program_bytes, options.memory_limit_bytes);
    EXPECT_GT(recomputation(plan->program).steps, 0u);
    EXPECT_EQ(run_apart(plan, testing::llama_tiny().tensors()),
              run_apart(plain, testing::llama_tiny().tensors()));
  }
}

// What waits in host memory comes back as it was, on a link that is as fast as a small model needs.
TEST(RecomputeAuto, GivesTheSameBitsWithHostMemory) {
  CompileOptions options = with({.mesh = "dp=2,tp=4"}, "auto");
  options.hardware = R"({"name": "linked", "base": "h100",
                         "device": {"host_bytes_per_s": 1e12, "launch_us": 0.001}})";
  options.memory_limit_bytes = int64_t{1} << 40;
  const auto plain = testing::llama_tiny().plan_of(options);
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(plain->program.host_bytes, 0);
  options.placements = placements_json(*plain);
  // Without a limit there are groups of steps, with memory of their own.
  const int64_t apart = plain->summary.memory_program_bytes - plain->program.group_bytes;
  options.memory_limit_bytes = apart * 7 / 10;
  const auto without = testing::llama_tiny().plan_of(options);
  options.host_memory_bytes = 1 << 30;
  const auto plan = testing::llama_tiny().plan_of(options);
  ASSERT_TRUE(without && plan);
  EXPECT_GT(plan->program.host_bytes, 0);
  EXPECT_LE(plan->summary.memory_program_bytes, options.memory_limit_bytes);
  EXPECT_LT(simulate(plan->program, plan->program.entries[0]).total_us,
            simulate(without->program, without->program.entries[0]).total_us);
  EXPECT_EQ(run_apart(plan, testing::llama_tiny().tensors()),
            run_apart(plain, testing::llama_tiny().tensors()));

  options.host_memory_bytes = 1 << 14;
  const auto little = testing::llama_tiny().plan_of(options);
  ASSERT_NE(little, nullptr);
  EXPECT_LE(little->program.host_bytes, 1 << 14);
}

TEST(Recompute, OfAnEntryWithoutABackwardHalfIsNothing) {
  const auto infer =
      testing::llama_tiny().plan_of(with({.mesh = "dp=2,tp=4", .entries = {"infer"}}, "full"));
  ASSERT_NE(infer, nullptr);
  EXPECT_EQ(recomputation(infer->program).steps, 0u);
}

}  // namespace
}  // namespace shw
