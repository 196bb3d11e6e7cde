// Random numbers on meshes. They depend only on the seed and offset of a run, on the node, and on
// the element's position in the whole tensor.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "compiler/pipeline.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "packed.h"
#include "runtime/entry.h"
#include "runtime/virtual_ranks.h"
#include "verify/verify_run.h"

namespace shw {
namespace {

using runtime::HostTensor;
using runtime::HostTensorView;
using runtime::VirtualRanks;
using Tensors = std::map<std::string, std::vector<float>>;

// Two layers with dropout, forward and backward, and noise added to the result.
constexpr char kModel[] = R"(
input param.w: %w : f32[32,32]
input input.0: %x : f32[16,32]
input tangent.0: %g : f32[16,32] {position=0}
%h = mm(%x, %w) : f32[16,32]
%a = native_dropout(%h, p=0.5, train=true) : (f32[16,32], bool[16,32])
%a_0 = get_item(%a, index=0) : f32[16,32]
%a_1 = get_item(%a, index=1) : bool[16,32]
%b = native_dropout(%x, p=0.5, train=true) : (f32[16,32], bool[16,32])
%b_0 = get_item(%b, index=0) : f32[16,32]
%n = randn(size=[16,32], dtype=f32) : f32[16,32]
%s = add(%a_0, %b_0) : f32[16,32]
%y = add(%s, %n) : f32[16,32]
%dh = native_dropout_backward(%g, %a_1, scale=2.0) : f32[16,32] {phase=backward}
%xt = t(%x) : f32[32,16]{1,32} {phase=backward}
%dw = mm(%xt, %dh) : f32[32,32] {phase=backward}
return output.y = %y, grad.w = %dw, output.a = %a_0, output.b = %b_0, output.n = %n, output.dh = %dh
)";

std::shared_ptr<const Plan> plan_on(const std::string& mesh, const std::string& text,
                                    const CompileOptions& base = {}) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  if (!graph.ok()) return nullptr;
  CompileOptions options = base;
  options.mesh = mesh;
  Monitor monitor;
  const auto compiled = testing::compile_packed(write_graph(*graph), options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  if (!compiled.ok()) return nullptr;
  auto plan = read_plan(compiled->bytes);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return plan.ok() ? std::make_shared<const Plan>(std::move(*plan)) : nullptr;
}

struct Seed {
  int64_t seed = 0, offset = 0;
};

class Model {
 public:
  explicit Model(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {
    if (plan_ == nullptr) return;
    auto ranks = VirtualRanks::create(plan_);
    EXPECT_TRUE(ranks.ok()) << ranks.status().message();
    if (ranks.ok()) ranks_ = std::move(*ranks);
    for (size_t i = 0; i < data_.size(); ++i) data_[i] = static_cast<float>(i % 13 + 1) / 8;
  }
  Tensors run(const Seed& seed, const std::string& name = "step") {
    Tensors named;
    if (ranks_ == nullptr) return named;
    const ProgramEntry& entry = **runtime::find_entry(plan_->program, name);
    const auto out = ranks_->run(name, inputs(entry, seed));
    EXPECT_TRUE(out.ok()) << out.status().message();
    for (size_t i = 0; out.ok() && i < out->size(); ++i) {
      if ((*out)[i].type.dtype != Dtype::kF32) continue;
      std::vector<float>& v = named[plan_->program.output(entry, i).name];
      v.resize((*out)[i].data.size() / sizeof(float));
      std::memcpy(v.data(), (*out)[i].data.data(), (*out)[i].data.size());
    }
    return named;
  }
  std::vector<HostTensorView> inputs(const ProgramEntry& entry, const Seed& seed) {
    std::vector<HostTensorView> in;
    for (PortId id : entry.inputs) {
      const Port& port = plan_->program.ports[id];
      in.push_back({port.global, port.role == PortRole::kSeed
                                     ? static_cast<const void*>(&seed)
                                     : static_cast<const void*>(data_.data())});
    }
    return in;
  }
  VirtualRanks& ranks() { return *ranks_; }
  const Plan& plan() const { return *plan_; }

 private:
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<VirtualRanks> ranks_;
  std::vector<float> data_ = std::vector<float>(32 * 32);
};

std::vector<bool> zeros(const std::vector<float>& v) {
  std::vector<bool> z;
  for (float x : v) z.push_back(x == 0);
  return z;
}

TEST(RandomNumbers, AreTheSameOnEveryMesh) {
  Model one(plan_on("a=1", kModel));
  for (const char* mesh : {"a=2,b=2", "a=4", "a=3"}) {
    SCOPED_TRACE(mesh);
    Model other(plan_on(mesh, kModel));
    for (const Seed& seed : {Seed{0, 0}, Seed{7, 0}, Seed{7, 1}, Seed{-1, INT64_MAX}}) {
      Tensors a = one.run(seed), b = other.run(seed);
      ASSERT_EQ(a.size(), 6u);
      EXPECT_EQ(a["output.b"], b["output.b"]);
      EXPECT_EQ(a["output.n"], b["output.n"]);
      EXPECT_EQ(a["output.dh"], b["output.dh"]);
      EXPECT_EQ(zeros(a["output.a"]), zeros(b["output.a"]));  // kept elements are products
    }
  }
}

TEST(RandomNumbers, ChangeWithSeedAndOffsetAndFromNodeToNode) {
  Model model(plan_on("a=2", kModel));
  std::set<std::vector<bool>> masks;
  std::set<std::vector<float>> noises;
  const Seed seeds[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {2, 0}};
  for (const Seed& seed : seeds) {
    Tensors out = model.run(seed);
    for (const char* name : {"output.a", "output.b"}) {
      const std::vector<bool> dropped = zeros(out[name]);
      const auto share = static_cast<double>(std::count(dropped.begin(), dropped.end(), true)) /
                         static_cast<double>(dropped.size());
      EXPECT_NEAR(share, 0.5, 0.1);
      masks.insert(dropped);
    }
    noises.insert(out["output.n"]);
  }
  EXPECT_EQ(masks.size(), 2 * std::size(seeds));
  EXPECT_EQ(noises.size(), std::size(seeds));
}

TEST(RandomNumbers, BackwardDropsWhatForwardDropped) {
  for (const char* mesh : {"a=1", "a=2,b=2"}) {
    Model model(plan_on(mesh, kModel));
    for (const Seed& seed : {Seed{3, 0}, Seed{3, 1}}) {
      Tensors out = model.run(seed);
      EXPECT_EQ(zeros(out["output.a"]), zeros(out["output.dh"]));
    }
  }
}

TEST(RandomNumbers, BackwardEntriesFindTheMaskInTheSession) {
  Model model(plan_on("a=2", kModel, {.entries = {"step", "forward", "backward"}}));
  const ProgramEntry& backward = **runtime::find_entry(model.plan().program, "backward");
  for (PortId id : backward.inputs) EXPECT_NE(model.plan().program.ports[id].role, PortRole::kSeed);
  Tensors step = model.run({5, 9}), forward = model.run({5, 9}, "forward");
  EXPECT_EQ(forward["output.y"], step["output.y"]);
  EXPECT_EQ(model.run({0, 0}, "backward")["grad.w"], step["grad.w"]);
}

void expect_verified(Model& model, const Seed& seed) {
  const ProgramEntry& entry = model.plan().program.entries[0];
  const std::vector<HostTensorView> in = model.inputs(entry, seed);
  const auto out = model.ranks().run("step", in);
  ASSERT_TRUE(out.ok()) << out.status().message();
  std::vector<HostTensorView> views;
  for (const HostTensor& t : *out) views.push_back({t.type, t.data.data()});
  Monitor monitor;
  const auto report = verify_run(model.plan(), in, views, {}, {}, monitor);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->num_wrong, 0);
}

// The numbers of a node do not depend on the rewrites that the options ask for. So plans under
// different rules can be checked against the same unsharded run.
TEST(RandomNumbers, DoNotDependOnRulesAndAreVerified) {
  Model full(plan_on("a=2", kModel)), compat(plan_on("a=2", kModel, {.rules = Rules::kCompat}));
  const Seed seed{11, 4};
  EXPECT_EQ(full.run(seed)["output.n"], compat.run(seed)["output.n"]);
  for (Model* model : {&full, &compat}) expect_verified(*model, seed);
}

// Attention whose weights are dropped: the backward pass drops the same ones, by the seed that the
// forward pass returns.
constexpr char kAttention[] = R"(
input param.q: %q : f32[4,4,8,8]
input param.k: %k : f32[4,2,8,8]
input tangent.0: %g : f32[4,4,8,8] {position=0}
%a = sdpa(%q, %k, %k, none, dropout_p=0.5, is_causal=true, kernel="flash", scale=0.125) : (f32[4,4,8,8], f32[4,4,8], i64[], i64[])
%out = get_item(%a, index=0) : f32[4,4,8,8]
%lse = get_item(%a, index=1) : f32[4,4,8]
%seed = get_item(%a, index=2) : i64[]
%offset = get_item(%a, index=3) : i64[]
%b = sdpa_backward(%g, %q, %k, %k, none, %out, %lse, %seed, %offset, dropout_p=0.5, is_causal=true, kernel="flash", scale=0.125) : (f32[4,4,8,8], f32[4,2,8,8], f32[4,2,8,8], none) {phase=backward}
%dq = get_item(%b, index=0) : f32[4,4,8,8] {phase=backward}
%dv = get_item(%b, index=2) : f32[4,2,8,8] {phase=backward}
return output.y = %out, grad.q = %dq, grad.k = %dv
)";

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = a.size() == b.size() ? 0 : 1e9;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return most;
}

TEST(RandomNumbers, OfAttentionAreTheSameOnEveryMeshAndInBothPasses) {
  Model one(plan_on("a=1", kAttention));
  std::set<std::vector<float>> seen;
  for (const char* mesh : {"a=2,b=2", "a=4", "a=3"}) {
    SCOPED_TRACE(mesh);
    Model other(plan_on(mesh, kAttention, {.entries = {"step", "forward", "backward"}}));
    expect_verified(other, {7, 0});
    for (const Seed& seed : {Seed{7, 0}, Seed{7, 1}, Seed{-1, INT64_MAX}}) {
      Tensors a = one.run(seed), b = other.run(seed), forward = other.run(seed, "forward"),
              backward = other.run({0, 0}, "backward");
      ASSERT_EQ(a.size(), 3u);
      for (const auto& [name, value] : a) EXPECT_LT(difference(value, b[name]), 1e-5) << name;
      EXPECT_EQ(forward["output.y"], b["output.y"]);
      EXPECT_EQ(backward["grad.q"], b["grad.q"]);
      EXPECT_EQ(backward["grad.k"], b["grad.k"]);
      seen.insert(a["output.y"]);
    }
  }
  EXPECT_EQ(seen.size(), 3u);
}

// The executor stores the seed, and every run increments the offset.
constexpr char kKept[] = R"(
input seed.kept: %seed : i64[2] {storage=state}
input constant.one: %one : i64[2] {data="00000000000000000100000000000000"}
%next = add(%seed, %one) : i64[2]
%r = rand(size=[16,32], dtype=f32) : f32[16,32]
return output.r = %r, update.seed.kept = %next in_place
)";

TEST(RandomNumbers, OfASeedThatTheExecutorKeepsChangeByThemselves) {
  for (const char* mesh : {"a=1", "a=2,b=2"}) {
    Model model(plan_on(mesh, kKept));
    EXPECT_TRUE(model.plan().program.entries[0].inputs.empty());
    const Seed seed{7, 3};
    const HostTensorView kept{row_major(Dtype::kI64, {2}), &seed};
    ASSERT_TRUE(model.ranks().write_state("seed.kept", kept).ok());
    const Tensors first = model.run({}), second = model.run({});
    EXPECT_NE(first, second);
    const auto now = model.ranks().read_state("seed.kept");
    ASSERT_TRUE(now.ok()) << now.status().message();
    Seed counted;
    std::memcpy(&counted, now->data.data(), sizeof counted);
    EXPECT_EQ(counted.seed, 7);
    EXPECT_EQ(counted.offset, 5);
    ASSERT_TRUE(model.ranks().write_state("seed.kept", kept).ok());
    EXPECT_EQ(model.run({}), first);
  }
}

TEST(RandomNumbers, OfAFixedSeedNeedNoInput) {
  Model model(plan_on("a=2",
                      "%r = rand(size=[16,32], dtype=f32, seed=3) : f32[16,32]\n"
                      "return output.r = %r\n"));
  EXPECT_TRUE(model.plan().program.entries[0].inputs.empty());
  EXPECT_EQ(model.run({1, 2}), model.run({3, 4}));
}

}  // namespace
}  // namespace shw
