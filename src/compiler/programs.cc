#include "compiler/programs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>

#include "compiler/price_groups.h"
#include "compiler/recompute_within.h"
#include "cost/roofline.h"
#include "lowering/lower.h"
#include "passes/gather_chains.h"
#include "passes/last_passes.h"
#include "passes/lend_outputs.h"
#include "passes/lifetimes.h"
#include "passes/pass.h"
#include "passes/schedule_fused.h"
#include "passes/split_batches.h"
#include "passes/split_rows.h"
#include "plan/report.h"
#include "recompute/recompute.h"
#include "simulate/simulate.h"

namespace shw {
namespace {

// The basis of the price of a kernel or copy. If the kernel was measured, the price is interpolated
// between measured sizes. If only other kernels of the device were measured, the roofline model
// replaces the measurement.
PriceBasis basis_of_kernel(const cost::DeviceSpec& device, const Program& program,
                           const ProgramStep& step) {
  if (device.kernels.empty()) return PriceBasis::kAnalytical;
  std::string_view kernel = step.kernel;
  if (is_product(step) && !kernel.starts_with("sdpa")) kernel = "mm";
  const bool has_operand = !step.inputs.empty() && step.inputs[0].valid();
  const Dtype dtype = has_operand ? program.values[step.inputs[0]].type.dtype : Dtype::kF32;
  const cost::KernelTimes* times = cost::times_of(device.kernels, kernel, dtype);
  return times != nullptr && times->dtype == dtype ? PriceBasis::kInterpolated
                                                   : PriceBasis::kFallback;
}

// Sets the basis of the price of each step.
void set_bases(Program& program, const cost::CollectiveModel& model) {
  for (ProgramStep& step : program.steps) {
    step.basis = basis_of_kernel(model.hardware().device, program, step);
    if (step.collective.kind == CollectiveKind::kNone) continue;
    const auto kind = static_cast<cost::Collective>(static_cast<int>(step.collective.kind) - 1);
    step.basis = static_cast<PriceBasis>(model.basis(kind, mask_of(step.collective.axes)));
  }
}

PassOptions pass_options(const PreparedModel& model) {
  const CompileOptions& options = model.options();
  const int64_t cores = model.collectives().hardware().device.shared_cores;
  PassOptions passes{.overlaps = cores == 0 || model.mesh().num_ranks() < cores,
                     .lends_outputs = options.lend_outputs};
  if (options.prefetch_bytes > 0) passes.prefetch_bytes = options.prefetch_bytes;
  if (options.prefetch_depth > 0) passes.prefetch_depth = options.prefetch_depth;
  if (options.products_between_reductions > 0)
    passes.products_between_reductions = options.products_between_reductions;
  return passes;
}

FusePrices fuse_prices(const PreparedModel& model) {
  const MovePrices& prices = model.redistributor().move_prices();
  return {prices.collective_us, prices.copy_us};
}

HostLink host_link(const PreparedModel& model) {
  if (model.options().host_memory_bytes == 0) return {};
  const cost::Roofline roofline(model.collectives().hardware().device, model.mesh().num_ranks());
  return {[roofline](int64_t bytes) { return roofline.host_copy_us(static_cast<double>(bytes)); },
          model.options().host_memory_bytes};
}

// The schedule and the memory plan.
Status finish(const PreparedModel& model, int64_t room_bytes, const PassOptions& options,
              Program& program, Monitor& monitor) {
  const int64_t fuse_bytes = model.options().fuse_bytes;
  if (fuse_bytes > 0)
    SHW_RETURN_IF_ERROR(
        schedule_fused(program, fuse_bytes, fuse_prices(model), options, monitor).status());
  return run_last_passes(program, room_bytes, Packing::kTight, options, monitor);
}

// Also tries the program with rows split, which needs more memory. Keeps it if it fits and is
// faster.
Status finish_within(const PreparedModel& model, int64_t room_bytes, const PassOptions& options,
                     Program& program, Monitor& monitor) {
  Program split = program;
  const bool splits = split_rows(split, fuse_prices(model)) > 0;
  SHW_RETURN_IF_ERROR(finish(model, room_bytes, options, program, monitor));
  if (!splits || scratch_bytes(program) > room_bytes) return {};
  SHW_RETURN_IF_ERROR(finish(model, room_bytes, options, split, monitor));
  if (scratch_bytes(split) <= room_bytes && simulated_us(split) < simulated_us(program))
    program = std::move(split);
  return {};
}

// Ways in which a program may hold more than planned if memory permits.
struct CopyPolicy {
  Copies copies;
  bool merges;  // merge equal steps, even if a result then lives longer
  bool leads;   // start collectives early
};
// The last policy mostly needs the least memory.
constexpr std::array kPolicies = {
    CopyPolicy{Copies::kShared, true, true}, CopyPolicy{Copies::kAsPlanned, true, true},
    CopyPolicy{Copies::kAsPlanned, false, true}, CopyPolicy{Copies::kAsPlanned, false, false}};
constexpr std::array<size_t, 4> kMostSharedFirst = {0, 1, 2, 3}, kSmallestFirst = {3, 0, 1, 2};

// Equal steps are merged before recomputation: a repeated step equals the original, so merging
// later would undo it. True: the program fits. If the program cannot fit, it is left unfinished
// unless `must_finish`.
Result<bool> run_all_passes(const PreparedModel& model, int64_t limit_bytes,
                            const CopyPolicy& copies, Program& program, double beat_us,
                            bool must_finish, Wanted wanted, Monitor& monitor) {
  const RecomputePolicy& policy = model.options().recompute;
  // The program that recomputation starts from must not depend on the limit.
  const bool is_bounded =
      limit_bytes > 0 && !recomputes_within(model, static_cast<double>(limit_bytes));
  const int64_t room = limit_bytes - bytes_of(model, program);
  PassOptions passes = pass_options(model);
  if (is_bounded) passes.arena_limit_bytes = copies.merges ? room : 0;
  static constexpr const PassDef* kBefore[] = {&kCommonSubexpressions, &kDeadSteps};
  SHW_RETURN_IF_ERROR(run_passes(program, kBefore, passes, monitor, Verify::kLater).status());
  if (is_bounded) passes.arena_limit_bytes = copies.leads ? room : 0;
  if (recomputes_within(model, static_cast<double>(limit_bytes))) {
    const WithinOptions options{beat_us, passes, model.options().fuse_bytes, fuse_prices(model),
                                host_link(model)};
    SHW_ASSIGN_OR_RETURN(program, recompute_within(program, model.graph(), room, options, monitor));
  } else {
    if (policy.kind != RecomputePolicy::Kind::kNone) {
      static constexpr const PassDef* kBehind[] = {&kDeadSteps};
      SHW_RETURN_IF_ERROR(recompute(program, model.graph(), policy, monitor));
      fuse_gather_chains(program, fuse_prices(model));
      SHW_RETURN_IF_ERROR(run_passes(program, kBehind, passes, monitor, Verify::kLater).status());
    }
    if (passes.overlaps) split_batches(program, fuse_prices(model));
    if (limit_bytes == 0) {
      SHW_RETURN_IF_ERROR(split_rows_where_faster(program, fuse_prices(model), passes, monitor));
      SHW_RETURN_IF_ERROR(finish(model, INT64_MAX, passes, program, monitor));
    } else {
      const int64_t lendable = lendable_bytes(program, passes);
      if (!must_finish && least_peak_bytes(program) - lendable > room) return false;
      SHW_RETURN_IF_ERROR(wanted == Wanted::kAnyThatFits
                              ? finish(model, room, passes, program, monitor)
                              : finish_within(model, room, passes, program, monitor));
    }
  }
  return limit_bytes == 0 || bytes_of(model, program) <= limit_bytes;
}

}  // namespace

Result<Program> lowered_program(const PreparedModel& model, const Placed& placed, Copies copies,
                                Monitor& monitor, SharedVersions* found) {
  std::vector<double> compute_us;
  for (uint32_t i = 0; i < placed.costs.size(); ++i)  // in one run
    compute_us.push_back(placed.costs[i].own_us() / model.weight(NodeId{i}));
  return lower(model.graph(), *placed.assignment, model.redistributor(),
               {.compute_us = compute_us,
                .choice = placed.choice,
                .copies = copies,
                .memory = &model.lowered_memory(),
                .shared = placed.shared.get(),
                .found = found,
                .verify = false},
               monitor);
}

// Shares copies between all their users if the result fits the limit. Otherwise copies live as
// planned and are shared only where memory permits.
Result<Program> program_of(const PreparedModel& model, const Placed& placed, Monitor& monitor,
                           const ProgramOptions& options) {
  const auto limit = static_cast<int64_t>(placed.memory.limit_bytes);
  // With recompute auto, the passes decide which copies to make again. So only one policy is tried.
  const bool repeats = recomputes_within(model, placed.memory.limit_bytes);
  const bool is_only_asked = options.wanted == Wanted::kAnyThatFits && limit > 0 && !repeats;
  Program program, smallest;
  bool fits = false;
  for (const size_t i : is_only_asked ? kSmallestFirst : kMostSharedFirst) {
    const CopyPolicy& policy = kPolicies[i];
    const bool is_smallest = i + 1 == kPolicies.size();
    if (placed.lowered != nullptr && policy.copies == Copies::kShared) {
      program = *placed.lowered;
    } else {
      SHW_ASSIGN_OR_RETURN(program, lowered_program(model, placed, policy.copies, monitor));
    }
    set_bases(program, model.collectives());
    const auto start = std::chrono::steady_clock::now();
    SHW_ASSIGN_OR_RETURN(fits, run_all_passes(model, limit, policy, program, options.beat_us,
                                              repeats || is_smallest, options.wanted, monitor));
    if (options.seconds_of_passes != nullptr)
      *options.seconds_of_passes +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (fits || repeats) break;
    if (is_smallest) smallest = std::move(program);
  }
  if (!fits && !repeats) program = std::move(smallest);
  price_groups(program,
               cost::Roofline(model.collectives().hardware().device, model.mesh().num_ranks()));
  if (options.verify == Verify::kNow) SHW_RETURN_IF_ERROR(verify_finished(program));
  return program;
}

Result<Program> final_program(const PreparedModel& model, const Placed& placed, Monitor& monitor,
                              const ProgramOptions& options) {
  if (placed.program == nullptr) return program_of(model, placed, monitor, options);
  if (options.verify == Verify::kNow) SHW_RETURN_IF_ERROR(verify_finished(*placed.program));
  return *placed.program;
}

Status verify_finished(const Program& program) {
  const Status status = verify(program, /*planned=*/true);
  return status.ok() ? status
                     : internal_error("the planner made an invalid program: " + status.message());
}

bool recomputes_within(const PreparedModel& model, double limit_bytes) {
  return limit_bytes > 0 && model.options().recompute.kind == RecomputePolicy::Kind::kAuto;
}

int64_t bytes_of(const PreparedModel& model, const Program& program) {
  const auto parameters = static_cast<double>(port_bytes(program, PortRole::kParameter));
  return scratch_bytes(program) + port_bytes(program) +
         static_cast<int64_t>(model.options().optimizer_factor * parameters);
}

}  // namespace shw
