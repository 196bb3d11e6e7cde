#include "without_pass.h"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compare.h"
#include "import/safetensors.h"
#include "lowering/lower.h"
#include "packed.h"
#include "passes/gather_chains.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/split_batches.h"
#include "passes/split_rows.h"
#include "recompute/recompute.h"
#include "run_plan.h"
#include "scheduled_anew.h"

namespace shw::testing {
namespace {

using import::TensorFile;

// ---- programs

void give_each_its_own_place(Program& p) {
  p.arena_bytes = 0;
  for (ProgramStorage& s : p.storages) {
    if (s.kind != StorageKind::kArena) continue;
    s.offset_bytes = p.arena_bytes;
    p.arena_bytes += padded_bytes(p, s.bytes);
  }
}

Result<Program> lowered(const Solved& solved) {
  const PreparedModel& model = *solved.model;
  std::vector<double> compute_us;
  for (uint32_t i = 0; i < solved.placed.costs.size(); ++i)
    compute_us.push_back(solved.placed.costs[i].own_us() / model.weight(NodeId{i}));
  Monitor monitor;
  return lower(model.graph(), *solved.placed.assignment, model.redistributor(),
               {.compute_us = compute_us,
                .choice = solved.placed.choice,
                .shared = solved.placed.shared.get()},
               monitor);
}

// A policy that repeats many steps, unless the options state a policy of their own.
RecomputePolicy policy_of(const CompileOptions& options) {
  using Kind = RecomputePolicy::Kind;
  const bool states_one =
      options.recompute.kind != Kind::kNone && options.recompute.kind != Kind::kAuto;
  return states_one ? options.recompute : *recompute_policy("full");
}

struct ArrangedPlan {
  std::shared_ptr<const Plan> plan;  // null: a failure
  bool splits_products = false;
};

// The plan as read back from its bytes, as in production.
ArrangedPlan arranged_plan(const Solved& solved, const Plan& plan,
                           std::optional<OptionalPass> left_out) {
  auto program = lowered(solved);
  EXPECT_TRUE(program.ok()) << program.status().message();
  if (!program.ok()) return {};
  auto made = arranged(*std::move(program), solved.model->graph(),
                       policy_of(solved.model->options()), left_out);
  EXPECT_TRUE(made.ok()) << made.status().message();
  if (!made.ok()) return {};
  Plan other;
  other.summary = plan.summary;
  other.program = std::move(made->program);
  auto read = read_plan(write_plan(other));
  EXPECT_TRUE(read.ok()) << read.status().message();
  if (!read.ok()) return {};
  return {std::make_shared<const Plan>(std::move(*read)), made->splits_products};
}

// ---- runs

// Element i of a tensor. Floats are positive, so that logarithms and roots are defined. Integers
// are valid both as indices into three elements and as lengths.
template <class T>
T element(size_t i) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(1 + i * 7 / 3 % 2);
  return static_cast<T>(static_cast<double>(i * 37 % 101 + 25) / 101);
}
template <class T>
void fill(std::span<std::byte> bytes) {
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    const T v = element<T>(i);
    std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof(T));
  }
}

// Fills floats of 8 and 16 bits with the bits of ordinary numbers around 1.
void fill_small(Dtype dtype, std::span<std::byte> bytes) {
  const bool is_wide = dtype == Dtype::kBF16 || dtype == Dtype::kF16;
  const uint16_t one = dtype == Dtype::kBF16 ? 0x3f40 : dtype == Dtype::kF16 ? 0x3a00 : 0x38;
  for (size_t i = 0; i < bytes.size() / (is_wide ? 2 : 1); ++i) {
    const auto v = static_cast<uint16_t>(one + i * 37 % (is_wide ? 61 : 5));
    std::memcpy(bytes.data() + i * (is_wide ? 2 : 1), &v, is_wide ? 2 : 1);
  }
}

std::vector<std::byte> tensor_of(const Port& port) {
  std::vector<std::byte> bytes(static_cast<size_t>(port.global.bytes()));
  switch (port.global.dtype) {
    case Dtype::kF32:
    case Dtype::kC64:
      fill<float>(bytes);
      break;
    case Dtype::kF64:
      fill<double>(bytes);
      break;
    case Dtype::kI64:
      fill<int64_t>(bytes);
      break;
    case Dtype::kI32:
      fill<int32_t>(bytes);
      break;
    case Dtype::kI16:
      fill<int16_t>(bytes);
      break;
    case Dtype::kI8:
    case Dtype::kU8:
    case Dtype::kBool:
      fill<uint8_t>(bytes);
      break;
    default:
      fill_small(port.global.dtype, bytes);
  }
  return bytes;
}

Status write_all_state(runtime::VirtualRanks& ranks) {
  for (const Port& port : ranks.program().ports)
    if (is_input(port.role) && ranks.program().lies_in(port, StorageKind::kState)) {
      const std::vector<std::byte> bytes = tensor_of(port);
      SHW_RETURN_IF_ERROR(ranks.write_state(
          port.name, {row_major(port.global.dtype, port.global.shape), bytes.data()}));
    }
  return {};
}

// Runs all entries in sequence in one session, from which the later entries read. Results are named
// by entry and position.
Result<TensorFile> results_of_entries(const std::shared_ptr<const Plan>& plan) {
  SHW_ASSIGN_OR_RETURN(const auto ranks, runtime::VirtualRanks::create(plan));
  SHW_RETURN_IF_ERROR(write_all_state(*ranks));
  SHW_ASSIGN_OR_RETURN(const auto sessions, ranks->create_sessions());
  TensorFile results;
  for (const ProgramEntry& entry : plan->program.entries) {
    std::vector<std::vector<std::byte>> inputs;
    std::vector<runtime::HostTensorView> views;
    for (PortId id : entry.inputs) {
      const Port& port = plan->program.ports[id];
      inputs.push_back(tensor_of(port));
      views.push_back({row_major(port.global.dtype, port.global.shape), inputs.back().data()});
    }
    SHW_ASSIGN_OR_RETURN(const auto outputs, ranks->run(entry.name, views, sessions));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].data.empty()) continue;  // a port that has no value
      const auto* bytes = reinterpret_cast<const uint8_t*>(outputs[i].data.data());
      results[entry.name + "." + std::to_string(i)] = {outputs[i].type,
                                                       {bytes, bytes + outputs[i].data.size()}};
    }
  }
  return results;
}

TensorFile expect_runs(const std::shared_ptr<const Plan>& plan) {
  auto results = results_of_entries(plan);
  EXPECT_TRUE(results.ok()) << results.status().message();
  return results.ok() ? *std::move(results) : TensorFile{};
}

// Kernels may add in another order if products are computed in parts.
void expect_same(const TensorFile& got, const TensorFile& want, bool splits_products) {
  EXPECT_EQ(got.size(), want.size());
  if (splits_products) {
    const Comparison compared = compare(got, want, 5e-6);
    EXPECT_EQ(compared.num_compared, want.size());
    EXPECT_EQ(compared.num_bad, 0u) << compared.worst_name;
    return;
  }
  for (const auto& [name, tensor] : want) {
    const auto it = got.find(name);
    EXPECT_TRUE(it != got.end() && it->second.bytes == tensor.bytes) << name;
  }
}

}  // namespace

const char* name_of(OptionalPass pass) {
  static constexpr const char* kNames[kNumOptionalPasses] = {
      "common-subexpressions", "dead-steps",           "recompute",
      "gather-chains",         "split-batches",        "split-rows",
      "fuse-collectives",      "schedule-collectives", "fuse-steps",
      "repeat-in-groups",      "lend-outputs",         "packing"};
  return kNames[static_cast<size_t>(pass)];
}

Result<Arranged> arranged(Program p, const Graph& graph, const RecomputePolicy& policy,
                          std::optional<OptionalPass> left_out) {
  Monitor monitor;
  const auto has = [&](OptionalPass pass) { return left_out != pass; };
  const auto run = [&](OptionalPass pass, const PassDef& def) -> Status {
    const PassDef* const passes[] = {&def};
    return has(pass) ? run_passes(p, passes, {}, monitor).status() : Status{};
  };
  const auto drop_dead_steps = [&]() -> Status {
    // Later passes require tables without gaps.
    if (!has(OptionalPass::kDeadSteps)) keep_steps(p, std::vector<uint8_t>(p.steps.size(), 1));
    return run(OptionalPass::kDeadSteps, kDeadSteps);
  };
  SHW_RETURN_IF_ERROR(run(OptionalPass::kCommonSubexpressions, kCommonSubexpressions));
  SHW_RETURN_IF_ERROR(drop_dead_steps());
  if (has(OptionalPass::kRecompute)) SHW_RETURN_IF_ERROR(recompute(p, graph, policy, monitor));
  if (has(OptionalPass::kGatherChains)) fuse_gather_chains(p, free_copies());
  SHW_RETURN_IF_ERROR(drop_dead_steps());
  uint32_t splits = 0;
  if (has(OptionalPass::kSplitBatches)) splits += split_batches(p, free_copies());
  if (has(OptionalPass::kSplitRows)) splits += split_rows(p, free_copies());
  if (has(OptionalPass::kFuseCollectives))
    fuse_collectives(p, {.bytes = 1 << 20, .scatter_bytes = 1 << 20, .steps = UINT32_MAX},
                     free_copies());
  SHW_RETURN_IF_ERROR(run(OptionalPass::kScheduleCollectives, kScheduleCollectives));
  SHW_RETURN_IF_ERROR(run(OptionalPass::kFuseSteps, kFuseSteps));
  SHW_RETURN_IF_ERROR(run(OptionalPass::kRepeatInGroups, kRepeatInGroups));
  static constexpr const PassDef* kPlaces[] = {&kPlanMemory};
  const PassOptions places{.lends_outputs = has(OptionalPass::kLendOutputs)};
  SHW_RETURN_IF_ERROR(run_passes(p, kPlaces, places, monitor).status());
  if (has(OptionalPass::kPacking))
    expect_packed(p);
  else
    give_each_its_own_place(p);
  return Arranged{std::move(p), splits > 0};
}

std::set<OptionalPass> expect_same_without(const Solved& solved,
                                           const std::shared_ptr<const Plan>& plan,
                                           LeftOut left_out) {
  std::set<OptionalPass> acted;
  const ArrangedPlan with_all = arranged_plan(solved, *plan, std::nullopt);
  if (with_all.plan == nullptr) return acted;
  const TensorFile results = expect_runs(plan);
  {
    SCOPED_TRACE("with all passes");
    expect_same(expect_runs(with_all.plan), results, with_all.splits_products);
  }
  const uint64_t one = (plan->summary.graph_hash ^ plan->summary.mesh_hash) % kNumOptionalPasses;
  for (uint32_t i = 0; i < kNumOptionalPasses; ++i) {
    if (left_out == LeftOut::kOne && i != one) continue;
    const auto pass = static_cast<OptionalPass>(i);
    SCOPED_TRACE(std::string("without ") + name_of(pass));
    const ArrangedPlan without = arranged_plan(solved, *plan, pass);
    if (without.plan == nullptr || write_plan(*without.plan) == write_plan(*with_all.plan))
      continue;
    acted.insert(pass);
    expect_same(expect_runs(without.plan), results, without.splits_products);
  }
  return acted;
}

}  // namespace shw::testing
