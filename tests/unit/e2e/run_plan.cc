#include "run_plan.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "packed.h"
#include "sanitized.h"
#include "without_pass.h"

namespace shw::testing {

using runtime::HostTensor;
using runtime::HostTensorView;
using runtime::VirtualRanks;

namespace {

// True for all plans; under sanitizers, for one in twelve.
bool runs_without(const Plan& plan) {
  constexpr uint64_t kOneIn = kSanitized ? 12 : 1;
  return (plan.summary.graph_hash ^ plan.summary.mesh_hash) / kNumOptionalPasses % kOneIn == 0;
}

// If SHW_EACH_PASS is set, each pass is left out in turn, which takes some minutes.
LeftOut left_out() {
  return std::getenv("SHW_EACH_PASS") != nullptr ? LeftOut::kEach : LeftOut::kOne;
}

}  // namespace

std::shared_ptr<const Plan> planned(std::span<const uint8_t> graph, const CompileOptions& options) {
  const auto solved = solve(graph, options);
  if (!solved) return nullptr;
  const auto plan = plan_of(*solved, options);
  if (plan != nullptr && runs_without(*plan)) expect_same_without(*solved, plan, left_out());
  return plan;
}

std::optional<Solved> solve(std::span<const uint8_t> graph, const CompileOptions& options) {
  Monitor monitor;
  auto solved = solve_once(graph, options, monitor);
  EXPECT_TRUE(solved.ok()) << solved.status().message() << " at " << solved.status().node_name();
  if (!solved.ok()) return std::nullopt;
  return std::move(*solved);
}

std::shared_ptr<const Plan> plan_of(const Solved& solved, const CompileOptions& options) {
  Monitor monitor;
  const auto compiled = finish(*solved.model, options, solved.placed, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  if (!compiled.ok()) return nullptr;
  expect_packed(compiled->plan.program);
  // Under recompute auto, placements are compared by their simulated step, not by the objective.
  const bool by_objective = options.recompute.kind != RecomputePolicy::Kind::kAuto;
  EXPECT_TRUE(compiled->plan.summary.proven || !by_objective);
  auto plan = read_plan(compiled->bytes);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  if (!plan.ok()) return nullptr;
  EXPECT_EQ(write_plan(*plan), compiled->bytes) << "save(load(p)) differs from p";
  EXPECT_EQ(plan->summary.proven, compiled->plan.summary.proven);
  return std::make_shared<const Plan>(std::move(*plan));
}

std::unique_ptr<VirtualRanks> ranks_of(const std::shared_ptr<const Plan>& plan) {
  auto ranks = VirtualRanks::create(plan);
  EXPECT_TRUE(ranks.ok()) << ranks.status().message();
  return ranks.ok() ? std::move(*ranks) : nullptr;
}

std::map<CollectiveKind, int> num_collectives(const Compiled& compiled) {
  std::map<CollectiveKind, int> count;
  for (const ProgramStep& s : compiled.plan.program.steps)
    if (s.collective.kind != CollectiveKind::kNone) ++count[s.collective.kind];
  return count;
}

HostTensorView f32(const std::vector<float>& v, Dims shape) {
  return {row_major(Dtype::kF32, shape), v.data()};
}

std::vector<float> floats(const HostTensor& t) {
  std::vector<float> v(t.data.size() / sizeof(float));
  std::memcpy(v.data(), t.data.data(), t.data.size());
  return v;
}

}  // namespace shw::testing
