// Graphs with several entries, state, in-place updates and constants, planned on meshes and run on
// virtual ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "graph/text.h"
#include "graph/writer.h"
#include "plan/plan.h"
#include "plan/report.h"
#include "run_plan.h"
#include "simulate/live_bytes.h"
#include "tiny_model.h"
#include "tools/execute.h"

namespace shw {
namespace {

using runtime::HostTensor;
using runtime::HostTensorView;
using runtime::VirtualRanks;
using testing::f32;
using testing::floats;
using testing::planned;
using testing::ranks_of;

std::shared_ptr<const Plan> planned_text(const std::string& text, const std::string& mesh) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  CompileOptions options;
  options.mesh = mesh;
  return graph.ok() ? planned(write_graph(*graph), options) : nullptr;
}

std::vector<float> ramp(size_t n, float scale) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = scale * static_cast<float>((i * 37) % 101) - 1;
  return v;
}

class OnMesh : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Meshes, OnMesh, ::testing::Values("a=1", "a=4", "a=2,b=2", "a=3"),
                         [](const auto& c) { return testing::test_name(c.param); });

// ---- forward, then backward, in a session

// An entry's outputs by name, computed as the tool does it.
std::map<std::string, HostTensor> outputs_of(VirtualRanks& ranks, const std::string& entry,
                                             const import::TensorFile& tensors,
                                             const VirtualRanks::Sessions& sessions = {}) {
  const ProgramEntry& e = *ranks.executor(0).find_entry(entry);
  const auto views = tools::bind_inputs(ranks.program(), e, tensors);
  EXPECT_TRUE(views.ok()) << views.status().message();
  const auto got = ranks.run(entry, *views, sessions);
  EXPECT_TRUE(got.ok()) << got.status().message();
  std::map<std::string, HostTensor> named;
  for (size_t i = 0; got.ok() && i < got->size(); ++i)
    if (const Port& port = ranks.program().ports[e.outputs[i]]; port.value.valid())
      named.emplace(port.name, (*got)[i]);
  return named;
}

bool same(const std::map<std::string, HostTensor>& a, const std::map<std::string, HostTensor>& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a)
    if (!b.contains(name) || b.at(name).data != tensor.data) return false;
  return true;
}

class Training : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    CompileOptions options;
    options.mesh = GetParam();
    options.entries = {"step", "forward", "backward", "infer"};
    plan_ = planned(testing::llama_tiny().graph_bytes(), options);
    ASSERT_NE(plan_, nullptr);
    const auto tensors =
        import::read_safetensors(SHW_TEST_DATA "/../../examples/data/llama_tiny_f32.safetensors");
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    tensors_ = *tensors;
    ranks_ = ranks_of(plan_);
    ASSERT_NE(ranks_, nullptr);
  }
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<VirtualRanks> ranks_;
  import::TensorFile tensors_;
};
INSTANTIATE_TEST_SUITE_P(Meshes, Training, ::testing::Values("a=1", "dp=2,tp=4", "a=2,b=2,c=2"),
                         [](const auto& c) { return testing::test_name(c.param); });

TEST_P(Training, ForwardThenBackwardInASessionIsTheStep) {
  auto step = outputs_of(*ranks_, "step", tensors_);
  auto split = outputs_of(*ranks_, "forward", tensors_);
  EXPECT_TRUE(same(outputs_of(*ranks_, "infer", tensors_), split));
  split.merge(outputs_of(*ranks_, "backward", tensors_));
  EXPECT_TRUE(same(step, split));
}

TEST_P(Training, TwoSessionsAreUnderWayAtOnce) {
  import::TensorFile other = tensors_;
  for (auto& [name, tensor] : other)
    if (name.starts_with("param.") && tensor.type.dtype == Dtype::kF32)
      for (size_t i = 0; i + 4 <= tensor.bytes.size(); i += 4) {
        float v;
        std::memcpy(&v, tensor.bytes.data() + i, 4);
        v *= 1.25f;
        std::memcpy(tensor.bytes.data() + i, &v, 4);
      }
  const auto a = ranks_->create_sessions(), b = ranks_->create_sessions();
  ASSERT_TRUE(a.ok() && b.ok());
  auto first = outputs_of(*ranks_, "forward", tensors_, *a);
  auto second = outputs_of(*ranks_, "forward", other, *b);
  first.merge(outputs_of(*ranks_, "backward", tensors_, *a));
  second.merge(outputs_of(*ranks_, "backward", other, *b));
  EXPECT_TRUE(same(first, outputs_of(*ranks_, "step", tensors_)));
  EXPECT_TRUE(same(second, outputs_of(*ranks_, "step", other)));
  EXPECT_FALSE(same(first, second));
}

// The number of session storages that the steps of an entry write.
size_t num_saved_by(const Program& program, const ProgramEntry& entry) {
  size_t saved = 0;
  for (uint32_t i = entry.first_step; i < entry.first_step + entry.num_steps; ++i)
    for (const ValueId value : program.steps[i].outputs)
      saved += program.lies_in(value, StorageKind::kSession);
  return saved;
}

TEST_P(Training, InferHoldsNoSavedValue) {
  const Program& p = plan_->program;
  const ProgramEntry &forward = *ranks_->executor(0).find_entry("forward"),
                     &infer = *ranks_->executor(0).find_entry("infer");
  constexpr auto kSession = static_cast<size_t>(StorageKind::kSession);
  EXPECT_GT(num_saved_by(p, forward), 20u);
  EXPECT_EQ(num_saved_by(p, infer), 0u);
  EXPECT_EQ(live_curves(p, infer).peak[kSession], 0);
  EXPECT_GT(live_curves(p, forward).peak[kSession], 0);
  EXPECT_LT(live_curves(p, infer).device_peak, live_curves(p, forward).device_peak);
  // Planned alone, the entry needs no session at all.
  CompileOptions options;
  options.mesh = GetParam();
  options.entries = {"infer"};
  const auto alone = planned(testing::llama_tiny().graph_bytes(), options);
  ASSERT_NE(alone, nullptr);
  EXPECT_EQ(alone->program.session_bytes, 0);
}

// Running statistics change in the forward pass, parameters after the backward pass.
TEST(DerivedEntries, WhatIsNotTrainedIsUpdatedByTheForwardPass) {
  const auto graph = parse_graph(R"(
input param.w: %w : f32[4]
input buffer.mean: %mean : f32[4]
input input.seen: %seen : f32[4]
%y = mul(%w, %mean) : f32[4]
%next = add(%mean, %y) : f32[4]
%more = add(%seen, %y) : f32[4]
%trained = sub(%w, %y) : f32[4]
return output = %y, update.buffer.mean = %next, update.input.seen = %more, update.w = %trained
)");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  CompileOptions options;
  options.mesh = "a=2";
  options.entries = {"forward", "backward", "infer"};
  const auto plan = planned(write_graph(*graph), options);
  ASSERT_NE(plan, nullptr);
  const std::vector<std::string> early = {"output", "update.buffer.mean", "update.input.seen"},
                                 late = {"update.w"};
  for (const ProgramEntry& e : plan->program.entries) {
    std::vector<std::string> names;
    for (const auto port : e.outputs) names.push_back(plan->program.ports[port].name);
    EXPECT_EQ(names, e.name == "backward" ? late : early) << e.name;
  }
}

// Nodes that no planned entry returns are not part of the plan and cost nothing.
TEST_P(Training, EntriesAreAlsoPlannedAlone) {
  for (const char* name : {"forward", "backward", "infer"}) {
    SCOPED_TRACE(name);
    CompileOptions options;
    options.mesh = GetParam();
    options.entries = {name};
    const auto alone = planned(testing::llama_tiny().graph_bytes(), options);
    ASSERT_NE(alone, nullptr);
    ASSERT_EQ(alone->program.entries.size(), 1u);
    EXPECT_LT(alone->summary.objective_us, plan_->summary.objective_us);
    for (const Port& port : alone->program.ports)
      if (!is_input(port.role)) {
        EXPECT_EQ(port.role == PortRole::kGradient, std::string_view(name) == "backward");
      }
    const auto ranks = ranks_of(alone);
    ASSERT_NE(ranks, nullptr);
    auto step = outputs_of(*ranks_, "step", tensors_);
    for (const auto& [output, tensor] : outputs_of(*ranks, name, tensors_)) {
      ASSERT_TRUE(step.contains(output)) << output;
      const std::vector<float> expected = floats(step.at(output)), got = floats(tensor);
      double error = 0, norm = 0;
      for (size_t i = 0; i < got.size(); ++i) {
        error += std::pow(double{got[i]} - double{expected[i]}, 2);
        norm += std::pow(double{expected[i]}, 2);
      }
      EXPECT_LE(error, 1e-10 * norm) << output;
    }
  }
}

TEST_P(Training, BackwardNeedsItsForward) {
  const ProgramEntry& e = *ranks_->executor(0).find_entry("backward");
  const auto views = tools::bind_inputs(ranks_->program(), e, tensors_);
  ASSERT_TRUE(views.ok()) << views.status().message();
  const auto sessions = ranks_->create_sessions();
  const auto got = ranks_->run("backward", *views, *sessions);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(got.status().message().find("'forward'"), std::string::npos) << got.status().message();
}

// ---- state, and updates in place

// One SGD step of a matrix that the executor stores.
constexpr char kSgd[] = R"(
input param.w: %w : f32[64,128] {storage=state}
input input.g: %g : f32[64,128]
%new = sub(%w, %g, alpha=0.5) : f32[64,128]
return update.w = %new in_place
)";

TEST_P(OnMesh, AnUpdateOfStateTakesItsPlaceWithoutASecondBuffer) {
  const auto plan = planned_text(kSgd, GetParam());
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->program.arena_bytes, 0);
  ASSERT_EQ(plan->program.steps.size(), 1u) << to_text(plan->program);
  EXPECT_EQ(plan->program.steps[0].in_place, 0u);
  const auto ranks = ranks_of(plan);
  ASSERT_NE(ranks, nullptr);
  std::vector<float> w = ramp(64 * 128, 0.01f);
  const std::vector<float> g = ramp(64 * 128, 0.003f);
  ASSERT_TRUE(ranks->write_state("param.w", f32(w, {64, 128})).ok());
  for (int step = 0; step < 3; ++step) {
    const HostTensorView in[] = {f32(g, {64, 128})};
    const auto out = ranks->run("step", in);
    ASSERT_TRUE(out.ok()) << out.status().message();
    EXPECT_TRUE(out->empty());
    for (size_t i = 0; i < w.size(); ++i) w[i] -= 0.5f * g[i];
    const auto now = ranks->read_state("param.w");
    ASSERT_TRUE(now.ok()) << now.status().message();
    EXPECT_EQ(floats(*now), w);
  }
}

// The old value is still needed after the new one is known, and the new one is used in a result.
constexpr char kOldAndNew[] = R"(
input buffer.w: %w : f32[32,32]
input input.g: %g : f32[32,32]
%new = add(%w, %g) : f32[32,32]
%t = t(%w) : f32[32,32]{1,32}
%y = mm(%new, %t) : f32[32,32]
return update.buffer.w = %new in_place, output = %y
)";

TEST_P(OnMesh, AnUpdateWaitsForWhoReadsTheOldValue) {
  const auto plan = planned_text(kOldAndNew, GetParam());
  ASSERT_NE(plan, nullptr);
  const auto ranks = ranks_of(plan);
  ASSERT_NE(ranks, nullptr);
  std::vector<float> w(32 * 32), g(w.size());
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = static_cast<float>(i % 7) - 3, g[i] = static_cast<float>(i % 5) - 2;
  const HostTensorView in[] = {f32(w, {32, 32}), f32(g, {32, 32})};
  const auto out = ranks->run("step", in);
  ASSERT_TRUE(out.ok()) << out.status().message();
  std::vector<float> updated(w.size()), y(w.size(), 0);
  for (size_t i = 0; i < w.size(); ++i) updated[i] = w[i] + g[i];
  for (size_t i = 0; i < 32; ++i)
    for (size_t j = 0; j < 32; ++j)
      for (size_t k = 0; k < 32; ++k) y[i * 32 + j] += updated[i * 32 + k] * w[j * 32 + k];
  EXPECT_EQ(floats((*out)[0]), updated);
  EXPECT_EQ(floats((*out)[1]), y);
}

// Two buffers swap their values. Neither update may overwrite the value that the other needs.
constexpr char kSwap[] = R"(
input buffer.a: %a : f32[16,12] {storage=state}
input buffer.b: %b : f32[16,12] {storage=state}
return update.buffer.a = %b in_place, update.buffer.b = %a in_place
)";

TEST_P(OnMesh, TwoStatesChangePlaces) {
  const auto plan = planned_text(kSwap, GetParam());
  ASSERT_NE(plan, nullptr);
  const auto ranks = ranks_of(plan);
  ASSERT_NE(ranks, nullptr);
  const std::vector<float> a = ramp(192, 1), b = ramp(192, 3);
  ASSERT_TRUE(ranks->write_state("buffer.a", f32(a, {16, 12})).ok());
  ASSERT_TRUE(ranks->write_state("buffer.b", f32(b, {16, 12})).ok());
  ASSERT_TRUE(ranks->run("step", {}).ok());
  EXPECT_EQ(floats(*ranks->read_state("buffer.a")), b);
  EXPECT_EQ(floats(*ranks->read_state("buffer.b")), a);
}

// A value that a later entry of the session reads belongs to the session, because the input may
// have changed by then.
constexpr char kReadLater[] = R"(
input buffer.w: %w : f32[16,8]
input input.g: %g : f32[16,8]
%new = add(%w, %g) : f32[16,8]
%y = relu(%new) : f32[16,8]
return update.buffer.w = %new in_place, output = %y
entry first inputs=[0,1] outputs=[0]
entry second inputs=[] outputs=[1] after=[0]
)";

TEST_P(OnMesh, AnUpdateThatALaterEntryReadsIsKeptInTheSession) {
  const auto plan = planned_text(kReadLater, GetParam());
  ASSERT_NE(plan, nullptr);
  const auto ranks = ranks_of(plan);
  ASSERT_NE(ranks, nullptr);
  const std::vector<float> w = ramp(128, 0.25f), g = ramp(128, 0.5f);
  const HostTensorView in[] = {f32(w, {16, 8}), f32(g, {16, 8})};
  ASSERT_TRUE(ranks->run("first", in).ok());
  const auto out = ranks->run("second", {});
  ASSERT_TRUE(out.ok()) << out.status().message();
  std::vector<float> y(w.size());
  for (size_t i = 0; i < w.size(); ++i) y[i] = std::max(w[i] + g[i], 0.0f);
  EXPECT_EQ(floats((*out)[0]), y);
}

// ---- a cache that one entry fills and another reads, and a constant

// `decode` writes row `position` of the cache and attends to all rows up to it. `full` processes
// the whole sequence at once. A constant in the graph masks the scores.
std::string attention_text(int64_t length) {
  const std::string n = std::to_string(length), nn = n + "," + n;
  std::string zero = "00000000";
  return "input buffer.cache: %cache : f32[" + n + ",8] {storage=state}\n" +
         "input input.x: %x : f32[1,8]\n"
         "input input.position: %p : i64[1]\n"
         "input input.mask: %m : f32[1," +
         n +
         "]\n"
         "input input.all: %all : f32[" +
         n +
         ",8]\n"
         "input input.causal: %causal : f32[" +
         nn +
         "]\n"
         "input constant.bias: %bias : f32[1,8] {data=\"" +
         std::string("0000803f0000004000004040000080400000a0400000c0400000e04000000041") + "\"}\n" +
         "%new = index_put(%cache, %x, %p, dims=[0]) : f32[" + n + ",8]\n" +
         "%kt = t(%new) : f32[8," + n + "]{1,8}\n" + "%s = mm(%x, %kt) : f32[1," + n + "]\n" +
         "%sm = add(%s, %m) : f32[1," + n + "]\n" + "%w = softmax(%sm, dim=1) : f32[1," + n +
         "]\n" +
         "%y = mm(%w, %new) : f32[1,8]\n"
         "%out = add(%y, %bias) : f32[1,8]\n" +
         "%akt = t(%all) : f32[8," + n + "]{1,8}\n" + "%as = mm(%all, %akt) : f32[" + nn + "]\n" +
         "%asm = add(%as, %causal) : f32[" + nn + "]\n" + "%aw = softmax(%asm, dim=1) : f32[" + nn +
         "]\n" + "%ay = mm(%aw, %all) : f32[" + n + ",8]\n" + "%aout = add(%ay, %bias) : f32[" + n +
         ",8]\n" +
         "return output.0 = %out, update.buffer.cache = %new in_place, output.1 = %aout\n"
         "entry decode weight=100 inputs=[1,2,3] outputs=[0,1]\n"
         "entry full inputs=[4,5] outputs=[2]\n";
}

TEST_P(OnMesh, DecodingWithACacheIsTheWholeForwardPass) {
  constexpr int64_t kLength = 12;
  const auto plan = planned_text(attention_text(kLength), GetParam());
  ASSERT_NE(plan, nullptr);
  ASSERT_EQ(plan->program.entries.size(), 2u);
  EXPECT_EQ(plan->program.entries[0].weight, 100);
  const auto ranks = ranks_of(plan);
  ASSERT_NE(ranks, nullptr);
  std::vector<float> x(kLength * 8), causal(kLength * kLength, 0);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * 0.7f;
  for (size_t i = 0; i < kLength; ++i)
    for (size_t j = i + 1; j < kLength; ++j) causal[i * kLength + j] = -1e30f;
  const HostTensorView whole[] = {f32(x, {kLength, 8}), f32(causal, {kLength, kLength})};
  const auto full = ranks->run("full", whole);
  ASSERT_TRUE(full.ok()) << full.status().message();
  const std::vector<float> expected = floats((*full)[0]);
  for (int64_t position = 0; position < kLength; ++position) {
    const std::vector<float> row(x.begin() + position * 8, x.begin() + position * 8 + 8),
        mask(causal.begin() + position * kLength, causal.begin() + (position + 1) * kLength);
    const HostTensorView in[] = {
        f32(row, {1, 8}), {row_major(Dtype::kI64, {1}), &position}, f32(mask, {1, kLength})};
    const auto out = ranks->run("decode", in);
    ASSERT_TRUE(out.ok()) << out.status().message();
    ASSERT_EQ(out->size(), 1u) << "the cache is the executor's, and no output";
    const std::vector<float> got = floats((*out)[0]);
    for (size_t d = 0; d < 8; ++d)
      EXPECT_NEAR(got[d], expected[static_cast<size_t>(position) * 8 + d], 2e-6)
          << "position " << position;
  }
}

// ---- the objective is the weighted sum

TEST(EntryWeights, TheObjectiveIsTheWeightedSum) {
  const std::string body = R"(
input input.0: %x : f32[512,256]
input param.w: %w : f32[256,256]
%y = mm(%x, %w) : f32[512,256]
%z = relu(%y) : f32[512,256]
return output.0 = %y, output.1 = %z
)";
  const auto objective = [&](const std::string& entries) {
    const auto plan = planned_text(body + entries, "a=2,b=2");
    return plan == nullptr ? 0 : plan->summary.objective_us;
  };
  const double once = objective("");
  EXPECT_GT(once, 0);
  EXPECT_NEAR(objective("entry a weight=3 inputs=[0,1] outputs=[0,1]"), 3 * once, 1e-9 * once);
  const double both =
      objective("entry a inputs=[0,1] outputs=[0,1]\nentry b weight=2 inputs=[0,1] outputs=[0,1]");
  EXPECT_NEAR(both, 3 * once, 1e-9 * once);
  // `b` does not pay again for a value that it finds in its session.
  EXPECT_NEAR(
      objective("entry a inputs=[0,1] outputs=[0]\nentry b inputs=[] outputs=[1] after=[0]"), once,
      1e-9 * once);
}

}  // namespace
}  // namespace shw
