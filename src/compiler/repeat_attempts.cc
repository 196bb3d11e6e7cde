#include "compiler/repeat_attempts.h"

#include <algorithm>
#include <utility>

#include "groups/form_groups.h"
#include "passes/gather_chains.h"
#include "passes/last_passes.h"
#include "passes/lend_outputs.h"
#include "passes/lifetimes.h"
#include "passes/order_compactly.h"
#include "passes/pass.h"
#include "passes/schedule_fused.h"
#include "passes/split_batches.h"
#include "passes/split_rows.h"
#include "recompute/offload.h"
#include "simulate/simulate.h"

namespace shw {
namespace {

// busy_us() and the simulator add prices in different orders, so their sums differ by rounding.
constexpr double kRounding = 1e-9;

// The share of a step that less room for early collectives may save. The most seen by bench_budget
// is 1.8 %, for GPT-2 on eight ranks.
constexpr double kLessRoomGains = 0.04;

// By node; 1: its tag says that its value must be saved.
std::vector<uint8_t> kept_nodes(const Graph& graph) {
  std::vector<uint8_t> kept;
  for (uint32_t n = 0; n < graph.num_nodes(); ++n) {
    if (graph.meta(NodeId{n}).recompute != Recompute::kMustSave) continue;
    const uint32_t origin = graph.origin(NodeId{n}).v;
    kept.resize(std::max<size_t>(kept.size(), origin + 1), 0);
    kept[origin] = 1;
  }
  return kept;
}

// The scratch bytes if the arena had no gaps. An attempted program is packed only as tightly as the
// limit requires, so its arena says little about its needs.
int64_t least_scratch(const Program& p) {
  return scratch_bytes(p) - p.arena_bytes + p.live_peak_bytes;
}

// The peak of a scheduled program.
int64_t scheduled_peak_bytes(const Program& p, bool with_groups) {
  if (!with_groups) return live_peak_bytes(p);
  return std::ranges::max(live_bytes(lives_of(p, groups_to_come(p)), p.steps.size()));
}

Status run_pass(const PassDef& pass, Program& p, const PassOptions& options, Monitor& monitor) {
  const PassDef* const passes[] = {&pass};
  return run_passes(p, passes, options, monitor, Verify::kLater).status();
}

}  // namespace

RepeatAttempts::RepeatAttempts(const Program& program, const Graph& graph,
                               const RepeatChoices& choices, int64_t limit_bytes,
                               const WithinOptions& options, Monitor& monitor)
    : program_(program),
      choices_(choices),
      limit_bytes_(limit_bytes),
      options_(options),
      monitor_(monitor),
      rules_{.copy_us = options.fuse_prices.copy_us,
             .kept_nodes = kept_nodes(graph),
             .overlaps = options.passes.overlaps},
      rules_with_groups_(rules_) {
  rules_with_groups_.with_groups = true;
}

double RepeatAttempts::busy_us(const Program& p) {
  double us = 0;
  for (const ProgramEntry& entry : p.entries)
    for (uint32_t i = 0; i < entry.num_steps; ++i)
      if (const ProgramStep& step = p.steps[entry.first_step + i];
          step.collective.kind == CollectiveKind::kNone)
        us += entry.weight * std::max(step.cost_us, 0.0);
  return (1 - kRounding) * us;
}

Result<double> RepeatAttempts::least_us(const std::vector<Repeated>& repeated) const {
  Program p = program_;
  repeat(p, repeated);
  SHW_RETURN_IF_ERROR(run_pass(kDeadSteps, p, options_.passes, monitor_));
  return busy_us(p);
}

Result<Program> RepeatAttempts::repeated_program(const std::vector<Repeated>& repeated,
                                                 bool with_groups) const {
  Program p = program_;
  repeat(p, repeated);
  if (options_.fuse_prices.collective_us) fuse_gather_chains(p, options_.fuse_prices);
  SHW_RETURN_IF_ERROR(run_pass(kDeadSteps, p, options_.passes, monitor_));
  if (with_groups) order_compactly(p);
  return p;
}

int64_t RepeatAttempts::bytes_in_both() const {
  return limit_bytes_ + (uses_host_ ? options_.host.limit_bytes : 0);
}

bool RepeatAttempts::may_win(double least_us) const {
  return least_us < options_.beat_us && !(fits_ && least_us >= best_us_);
}

Result<bool> RepeatAttempts::attempt(const std::vector<Repeated>& repeated, const Room& room) {
  SHW_RETURN_IF_ERROR(monitor_.poll());
  SHW_ASSIGN_OR_RETURN(Program p, repeated_program(repeated));
  return attempt(std::move(p), repeated, room, {});
}

Result<bool> RepeatAttempts::attempt(Program p, const std::vector<Repeated>& repeated,
                                     const Room& room, const Shortening& shortening) {
  const PassOptions options = pass_options(room, shortening);
  if (!finish_unscheduled(p, room, uses_host_)) return false;
  SHW_RETURN_IF_ERROR(run_pass(kScheduleCollectives, p, options, monitor_));
  const double us = last_us_ = simulated_us(p);
  if (room.arena_limit_bytes == INT64_MAX && !room.prefetch_bytes)
    free_us_ = std::min(free_us_, us);
  const double least_us = std::min(fits_ ? best_us_ : kEndless, options_.beat_us);
  if (skips_slower_ && us >= least_us &&
      shortening.more_us + choices_.excess_us(repeated, 0) >= least_excess_us_)
    return scheduled_peak_bytes(p, shortening.with_groups) - lendable_bytes(p, options) <=
           limit_bytes_;
  SHW_RETURN_IF_ERROR(run_last_passes(p, limit_bytes_, Packing::kEnough, options, monitor_));
  const bool fits = scratch_bytes(p) <= limit_bytes_;
  beside_bytes_ = least_scratch(p) - choices_.kept_bytes(repeated);
  const double excess_us =
      shortening.more_us +
      choices_.excess_us(repeated, std::max<int64_t>(limit_bytes_ - least_scratch(p), 0));
  if (fits) least_excess_us_ = std::min(least_excess_us_, excess_us);
  const bool better =
      fits_ == fits
          ? (fits ? us < best_us_ : !best_ || scratch_bytes(p) < scratch_bytes(best_->program))
          : fits;
  if (best_ && !better) return fits;
  fits_ = fits;
  best_us_ = us;
  best_ = {std::move(p), repeated, room, shortening, excess_us, uses_host_};
  return fits;
}

Status RepeatAttempts::attempt_with_less_room(const Program& p,
                                              const std::vector<Repeated>& repeated,
                                              const Shortening& shortening, bool splits_rows) {
  Room room{.splits_rows = splits_rows};
  SHW_ASSIGN_OR_RETURN(const bool fits, attempt(p, repeated, room, shortening));
  if (fits && last_us_ > (1 + kLessRoomGains) * best_us_) return {};
  room.prefetch_bytes = 0;
  SHW_ASSIGN_OR_RETURN(const bool fits_late, attempt(p, repeated, room, shortening));
  for (const int64_t sixteenths : {12, 8, 4, 1})
    if (fits || fits_late) {
      room.prefetch_bytes = options_.passes.prefetch_bytes / 16 * sixteenths;
      SHW_RETURN_IF_ERROR(attempt(p, repeated, room, shortening).status());
    }
  return {};
}

PassOptions RepeatAttempts::pass_options(const Room& room, const Shortening& shortening) const {
  PassOptions options = options_.passes;
  options.arena_limit_bytes = room.arena_limit_bytes;
  if (room.prefetch_bytes) options.prefetch_bytes = *room.prefetch_bytes;
  options.groups_free_memory = shortening.with_groups;
  return options;
}

// False: `room` asks for split rows, but no rows can be split.
bool RepeatAttempts::finish_unscheduled(Program& p, const Room& room, bool uses_host) const {
  if (uses_host) offload(p, options_.host);
  if (!options_.fuse_prices.collective_us) return !room.splits_rows;
  if (options_.passes.overlaps) split_batches(p, options_.fuse_prices);
  return !room.splits_rows || split_rows(p, options_.fuse_prices) > 0;
}

Status RepeatAttempts::attempt_best_with_rows_split() {
  if (best_->shortening.live_bytes < INT64_MAX) return {};
  Room room = best_->room;
  room.splits_rows = true;
  uses_host_ = best_->uses_host;
  return attempt(std::vector(best_->repeated), room).status();
}

Status RepeatAttempts::fuse_best() {
  Room room = best_->room;
  room.arena_limit_bytes = limit_bytes_;
  const Shortening& shortening = best_->shortening;
  SHW_ASSIGN_OR_RETURN(Program p, repeated_program(best_->repeated, shortening.with_groups));
  if (shortening.live_bytes < INT64_MAX)
    shorten_lives(p, shortening.live_bytes, life_rules(shortening.with_groups));
  finish_unscheduled(p, room, best_->uses_host);
  const PassOptions options = pass_options(room, shortening);
  SHW_RETURN_IF_ERROR(
      schedule_fused(p, options_.fuse_bytes, options_.fuse_prices, options, monitor_).status());
  SHW_RETURN_IF_ERROR(run_last_passes(p, limit_bytes_, Packing::kEnough, options, monitor_));
  const double us = simulated_us(p);
  if (scratch_bytes(p) <= limit_bytes_ && us < best_us_)
    best_->program = std::move(p), best_us_ = us;
  return {};
}

Result<Program> RepeatAttempts::take_best() {
  Program& p = best_->program;
  p.recompute_excess_us = fits_ ? least_excess_us_ : best_->excess_us;
  SHW_RETURN_IF_ERROR(pack_tightly(p, options_.passes, monitor_));
  return std::move(p);
}

}  // namespace shw
