// Recomputation in the backward pass: programs with and without it give the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "graph/text.h"
#include "graph/writer.h"
#include "plan/placements.h"
#include "plan/report.h"
#include "recompute/offload.h"
#include "recompute/shorten_lives.h"
#include "run_plan.h"
#include "scheduled_anew.h"
#include "simulate/simulate.h"
#include "tiny_model.h"
#include "tools/execute.h"

namespace shw {
namespace {

using testing::free_copies;
using testing::planned;
using testing::ranks_of;
using testing::results_of;
using testing::scheduled_anew;
using testing::unscheduled;

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
    const auto update_at = static_cast<uint32_t>(random_() % 24);  // half have none
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

// The plan with as many values in host memory as the link can carry. A copy takes no longer than a
// step. Adds the moved bytes to `moved`.
Plan with_host_memory(const Plan& plan, int64_t* moved) {
  Plan other = unscheduled(plan);
  *moved += offload(other.program, {[](int64_t bytes) { return bytes > 0 ? 1.0 : 0.5; }, 1 << 30});
  return other;
}

// The plan with the shortest possible lives: steps are repeated, moved later, and split into parts.
// `products`: products are split too.
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

// Some plans have stated layouts of inputs and results. In the others the planner chooses these
// layouts.
TEST(Recompute, RandomGraphsGiveTheSameBits) {
  int64_t in_host = 0;
  uint32_t shortened = 0;
  uint32_t repeating = 0, updating = 0, communicating = 0, fused = 0;
  for (uint32_t seed = 0; seed < 32; ++seed) {
    const std::string text = RandomGraph(seed).text();
    SCOPED_TRACE(text);
    const auto graph = parse_graph(text);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const std::vector<uint8_t> bytes = write_graph(*graph);
    CompileOptions options;
    options.mesh = seed % 3 == 0 ? "a=1" : seed % 3 == 1 ? "a=2,b=2" : "a=4";
    static constexpr const char* kLayouts[2][3] = {{"S(0)", "R", "S(1)"},
                                                   {"S(0)S(1)", "RS(0)", "S(1)R"}};
    if (seed >= 16)
      options.input_layout = options.output_layout = kLayouts[seed % 3 == 1][seed / 3 % 3];
    const auto plain = planned(bytes, options);
    ASSERT_NE(plain, nullptr);
    EXPECT_EQ(recomputation(plain->program).steps, 0u);
    const auto expected = results_of(plain);
    ASSERT_FALSE(expected.empty());
    communicating += plain->program.streams.size() > 1;
    for (const std::optional<uint32_t> depth : {std::optional<uint32_t>(), {0u}, {3u}}) {
      const auto other = scheduled_anew(*plain, depth);
      ASSERT_NE(other, nullptr);
      EXPECT_EQ(results_of(other), expected);
      const auto with_fused = scheduled_anew(*plain, depth, &fused);
      ASSERT_NE(with_fused, nullptr);
      EXPECT_EQ(results_of(with_fused), expected);
      const auto with_host = scheduled_anew(with_host_memory(*plain, &in_host), depth);
      ASSERT_NE(with_host, nullptr);
      EXPECT_EQ(results_of(with_host), expected);
      const auto shorter =
          scheduled_anew(with_shorter_lives(*plain, seed % 2 == 0, &shortened), depth);
      ASSERT_NE(shorter, nullptr);
      EXPECT_EQ(results_of(shorter), expected);
    }
    for (const char* policy : kPolicies) {
      SCOPED_TRACE(policy);
      const auto plan = planned(bytes, with(options, policy));
      ASSERT_NE(plan, nullptr);
      EXPECT_EQ(results_of(plan), expected);
      const auto shorter = scheduled_anew(with_shorter_lives(*plan, true, &shortened), 3u);
      ASSERT_NE(shorter, nullptr);
      EXPECT_EQ(results_of(shorter), expected);
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

// The largest difference between two f32 tensors, as a share of the largest element.
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

// The results must agree with PyTorch's, and be equal to the bit to those of the program without
// recomputation.
class TinyModels : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Policies, TinyModels, ::testing::ValuesIn(kPolicies),
                         [](const auto& c) { return testing::test_name(c.param); });

TEST_P(TinyModels, GiveTheSameBitsFromLessMemory) {
  for (const auto* model : {&testing::llama_tiny(), &testing::gpt2_tiny()}) {
    // The schedule may use more memory for early starts than these models need in total, so here it
    // gets none.
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

// The results have the same bits. Where products are computed in parts, they agree within rounding,
// because a kernel may add in another order for another number of rows.
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

// Runs forward and then backward in one session, and returns what both return, by port.
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

// The parameters that an entry gathers, and the number of its gathers.
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

// Forward gathers each parameter once, and backward gathers it once more. Backward does not need
// the table in which tokens are looked up.
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

// Both programs use the same placements, because other placements may round differently.
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

// Values that wait in host memory come back unchanged. The link is as fast as a small model needs.
TEST(RecomputeAuto, GivesTheSameBitsWithHostMemory) {
  CompileOptions options = with({.mesh = "dp=2,tp=4"}, "auto");
  options.hardware = R"({"name": "linked", "base": "h100",
                         "device": {"host_bytes_per_s": 1e12, "launch_us": 0.001}})";
  options.memory_limit_bytes = int64_t{1} << 40;
  const auto plain = testing::llama_tiny().plan_of(options);
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(plain->program.host_bytes, 0);
  options.placements = placements_json(*plain);
  options.memory_limit_bytes = plain->summary.memory_program_bytes * 6 / 10;
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

// The same with forward and backward as entries: the waiting values belong to the session and lie
// in host memory.
TEST(RecomputeApart, GivesTheSameBitsWithHostMemory) {
  CompileOptions options =
      with({.mesh = "dp=2,tp=4", .entries = {"forward", "backward", "infer"}}, "auto");
  options.hardware = R"({"name": "linked", "base": "h100",
                         "device": {"host_bytes_per_s": 1e12, "launch_us": 0.001}})";
  options.memory_limit_bytes = int64_t{1} << 40;
  const auto plain = testing::llama_tiny().plan_of(options);
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(host_memory_bytes(plain->program), 0);
  const auto expected = run_apart(plain, testing::llama_tiny().tensors());
  options.placements = placements_json(*plain);
  options.memory_limit_bytes = plain->summary.memory_program_bytes * 6 / 10;
  double last_us = std::numeric_limits<double>::infinity();
  for (const int64_t host : {int64_t{0}, int64_t{1} << 15, int64_t{1} << 30}) {
    SCOPED_TRACE(host);
    options.host_memory_bytes = host;
    const auto plan = testing::llama_tiny().plan_of(options);
    ASSERT_NE(plan, nullptr);
    const Program& p = plan->program;
    EXPECT_LE(host_memory_bytes(p), host);
    EXPECT_LE(plan->summary.memory_program_bytes, options.memory_limit_bytes);
    double us = 0;
    for (const ProgramEntry& e : p.entries) {
      const Simulation s = simulate(p, e);
      EXPECT_LE(s.live.device_peak, options.memory_limit_bytes) << e.name;
      us += e.weight * s.total_us;
    }
    EXPECT_LE(us, last_us);
    EXPECT_EQ(run_apart(plan, testing::llama_tiny().tensors()), expected);
    if (host < 1 << 30) {
      last_us = us;
      continue;
    }
    EXPECT_LT(us, last_us);
    EXPECT_GT(p.host_session_bytes, 0);
    EXPECT_EQ(p.host_bytes, 0);
  }
}

TEST(Recompute, OfAnEntryWithoutABackwardHalfIsNothing) {
  const auto infer =
      testing::llama_tiny().plan_of(with({.mesh = "dp=2,tp=4", .entries = {"infer"}}, "full"));
  ASSERT_NE(infer, nullptr);
  EXPECT_EQ(recomputation(infer->program).steps, 0u);
}

}  // namespace
}  // namespace shw
