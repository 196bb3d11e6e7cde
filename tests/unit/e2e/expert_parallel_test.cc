// Experts over two flattened dims of a mesh with three dims. The bodies send each token to the rank
// that holds its expert and receive the result, forward and backward. The token counts are known
// only at run time.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "compiler/pipeline.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "packed.h"
#include "runtime/host_kernel.h"
#include "runtime/virtual_ranks.h"

namespace shw::expert_parallel {
namespace {

using runtime::RegionArgs;
using runtime::RegionGroup;
using Rows = std::vector<float>;  // of kWidth elements
using Counts = std::vector<int64_t>;

constexpr int64_t kTokens = 64, kWidth = 4, kExperts = 8;

// y[t] = x[t] ⊙ w[expert of t]. The token's first element names its expert.
constexpr char kGraph[] = R"swt(
input param.w: %w : f32[8,4]
input input.0: %x : f32[64,4]
input tangent.0: %g : f32[64,4] {phase=backward}
%m = local_map(%x, %w, region="experts", in_placements="S(0)S(0)S(0); S(0)RS(0)", out_placements="S(0)S(0)S(0)", result_types="f32[64,4]", groups="dp,tp") : f32[64,4]
%b = local_map(%x, %w, %g, region="experts.backward", in_placements="S(0)S(0)S(0); S(0)RS(0); S(0)S(0)S(0)", out_placements="S(0)S(0)S(0); S(0)PS(0)", result_types="f32[64,4]; f32[8,4]", groups="dp,tp") : (f32[64,4], f32[8,4]) {phase=backward}
%dx = get_item(%b, index=0) : f32[64,4] {phase=backward}
%dw = get_item(%b, index=1) : f32[8,4] {phase=backward}
return output.0 = %m, grad.input.0 = %dx, grad.w = %dw
)swt";

int64_t expert_of(const float* token) {
  return static_cast<int64_t>(std::abs(token[0])) % kExperts;
}

// Where one rank sends its tokens and what it receives. Decided once per run.
class Dispatch {
 public:
  Dispatch(RegionGroup& group, const float* x, int64_t tokens, int64_t experts_here)
      : group_(group), size_(static_cast<size_t>(group.size())), sends_(size_), expects_(size_) {
    const auto owner = [&](int64_t t) {
      return static_cast<size_t>(expert_of(x + t * kWidth) / experts_here);
    };
    for (int64_t t = 0; t < tokens; ++t) ++sends_[owner(t)];
    order_.resize(static_cast<size_t>(tokens));
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, {}, owner);
  }
  Status exchange_counts() {
    return group_.all_to_all(sends_.data(), expects_.data(), 1, Dtype::kI64);
  }
  // Sends rows of this rank's tokens to the ranks of their experts, and returns the rows received.
  Result<Rows> there(const float* rows) {
    Rows sorted, received(static_cast<size_t>(total(expects_) * kWidth));
    for (const int64_t t : order_)
      sorted.insert(sorted.end(), rows + t * kWidth, rows + (t + 1) * kWidth);
    SHW_RETURN_IF_ERROR(move(sorted.data(), sends_, received.data(), expects_));
    return received;
  }
  Status back(const Rows& rows, float* out) {
    Rows sorted(order_.size() * kWidth);
    SHW_RETURN_IF_ERROR(move(rows.data(), expects_, sorted.data(), sends_));
    for (size_t i = 0; i < order_.size(); ++i)
      std::copy_n(&sorted[i * kWidth], kWidth, out + order_[i] * kWidth);
    return {};
  }

 private:
  static int64_t total(const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  }
  Status move(const float* from, Counts sends, float* to, Counts expects) {
    for (Counts* counts : {&sends, &expects})
      for (int64_t& count : *counts) count *= kWidth;
    return group_.all_to_all_v(from, sends.data(), to, expects.data(), Dtype::kF32);
  }

  RegionGroup& group_;
  const size_t size_;
  Counts sends_, expects_;      // tokens, by member
  std::vector<int64_t> order_;  // the tokens' numbers, ordered by receiving member
};

// The kernel of one region of the graph above, on one rank.
class ExpertsKernel final : public runtime::HostKernel {
 public:
  ExpertsKernel(const RegionArgs& args, bool backward)
      : group_(*args.groups[0]),
        backward_(backward),
        tokens_(args.inputs[0]->shape[0]),
        experts_(args.inputs[1]->shape[0]) {}
  Status compute(void* const* buffers) override {
    const auto* x = static_cast<const float*>(buffers[0]);
    const auto* w = static_cast<const float*>(buffers[1]);
    Dispatch dispatch(group_, x, tokens_, experts_);
    SHW_RETURN_IF_ERROR(dispatch.exchange_counts());
    SHW_ASSIGN_OR_RETURN(const Rows came, dispatch.there(x));
    if (!backward_) return dispatch.back(products(came, came, w), static_cast<float*>(buffers[2]));
    SHW_ASSIGN_OR_RETURN(const Rows gradients,
                         dispatch.there(static_cast<const float*>(buffers[2])));
    auto* dw = static_cast<float*>(buffers[4]);
    std::fill_n(dw, experts_ * kWidth, 0.0f);
    for (size_t i = 0; i < came.size(); ++i)
      dw[row_of(came, i) * kWidth + static_cast<int64_t>(i) % kWidth] += came[i] * gradients[i];
    return dispatch.back(products(came, gradients, w), static_cast<float*>(buffers[3]));
  }

 private:
  // The row of `w` that applies to element i of the tokens.
  int64_t row_of(const Rows& tokens, size_t i) const {
    return expert_of(&tokens[i / kWidth * kWidth]) - group_.member() * experts_;
  }
  Rows products(const Rows& tokens, const Rows& values, const float* w) const {
    Rows made(values);
    for (size_t i = 0; i < made.size(); ++i)
      made[i] *= w[row_of(tokens, i) * kWidth + static_cast<int64_t>(i) % kWidth];
    return made;
  }

  RegionGroup& group_;
  const bool backward_;
  const int64_t tokens_, experts_;
};

runtime::RegionBody experts_region(const char* name, bool backward) {
  return {name,
          [backward](runtime::Device&,
                     const RegionArgs& args) -> Result<std::unique_ptr<runtime::PreparedKernel>> {
            return std::unique_ptr<runtime::PreparedKernel>(
                std::make_unique<ExpertsKernel>(args, backward));
          }};
}

Result<Compiled> compile_experts(const std::string& text, const std::string& mesh) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  Monitor monitor;
  return testing::compile_packed(write_graph(*graph), {.mesh = mesh}, monitor);
}

// The output and the gradients for small integers, which are exact in any order of summation. The
// tokens of the first half prefer one expert, and some experts get no tokens.
std::vector<std::vector<std::byte>> run_experts(const std::string& mesh) {
  const auto c = compile_experts(kGraph, mesh);
  EXPECT_TRUE(c.ok()) << c.status().message();
  auto plan = read_plan(c->bytes);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  const auto ranks = runtime::VirtualRanks::create(
      std::make_shared<const Plan>(std::move(*plan)),
      {.regions = {experts_region("experts", false), experts_region("experts.backward", true)}});
  EXPECT_TRUE(ranks.ok()) << ranks.status().message();
  std::vector<Rows> values;
  std::vector<runtime::HostTensorView> views;
  for (PortId id : (*ranks)->program().entries[0].inputs) {
    const Port& port = (*ranks)->program().ports[id];
    Rows& v = values.emplace_back(static_cast<size_t>(port.global.numel()));
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = static_cast<float>((i * 7 + i / 5 + values.size()) % 5) + 1;
    if (port.name == "input.0")
      for (size_t t = 0; t < kTokens; ++t)
        v[t * kWidth] = t < 32 ? 3.0f : static_cast<float>(t % 6);
    views.push_back({port.global, v.data()});
  }
  std::vector<std::vector<std::byte>> data;
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto got = (*ranks)->run("step", views);
    EXPECT_TRUE(got.ok()) << got.status().message();
    if (!got.ok()) return {};
    data.clear();
    for (auto& t : *got) data.push_back(std::move(t.data));
  }
  return data;
}

TEST(ExpertParallel, TokensGoToTheirExpertsAndBack) {
  const auto alone = run_experts("dp=1,cp=1,tp=1");
  ASSERT_EQ(alone.size(), 3u);
  float y = 0;
  std::memcpy(&y, alone[0].data(), sizeof y);
  EXPECT_NE(y, 0);
  EXPECT_EQ(run_experts("dp=2,cp=2,tp=2"), alone);
  EXPECT_EQ(run_experts("dp=4,cp=2,tp=1"), alone);
  EXPECT_EQ(run_experts("dp=2,cp=1,tp=4"), alone);
}

TEST(ExpertParallel, PlanningRefusesGroupsThatTheMeshDoesNotHave) {
  const auto refusal = [](const std::string& groups) {
    std::string text = kGraph;
    text.replace(text.find("dp,tp"), 5, groups);
    return compile_experts(text, "dp=2,cp=2,tp=2").status();
  };
  EXPECT_EQ(refusal("dp; ep,tp").message(), "groups: 'ep' is no dim of the mesh dp=2,cp=2,tp=2");
  EXPECT_EQ(refusal("cp, dp,cp").message(), "groups: mesh dim 'cp' stands twice in a group");
  EXPECT_EQ(refusal("dp").code(), Code::kOk);
}

}  // namespace
}  // namespace shw::expert_parallel
