#include "passes/last_passes.h"

#include <algorithm>
#include <utility>

#include "passes/lifetimes.h"
#include "passes/pack.h"
#include "passes/pass.h"

namespace shw {
namespace {

// The parts of a program that placing storages changes.
struct Places {
  explicit Places(const Program& p)
      : storages(p.storages),
        arena_bytes(p.arena_bytes),
        session_bytes(p.session_bytes),
        host_bytes(p.host_bytes),
        host_session_bytes(p.host_session_bytes),
        group_bytes(p.group_bytes),
        live_peak_bytes(p.live_peak_bytes) {}

  IndexVec<StorageId, ProgramStorage> storages;
  int64_t arena_bytes, session_bytes, host_bytes, host_session_bytes, group_bytes, live_peak_bytes;

  void swap_with(Program& p) {
    std::swap(storages, p.storages);
    std::swap(arena_bytes, p.arena_bytes);
    std::swap(session_bytes, p.session_bytes);
    std::swap(host_bytes, p.host_bytes);
    std::swap(host_session_bytes, p.host_session_bytes);
    std::swap(group_bytes, p.group_bytes);
    std::swap(live_peak_bytes, p.live_peak_bytes);
  }
};

// The parts of a program that forming groups, repeating steps in them and placing storages changes.
struct Order {
  explicit Order(const Program& p)
      : steps(p.steps), entries(p.entries), values(p.values), places(p), num_events(p.num_events) {
    for (const Port& port : p.ports) ports.push_back(port.value);
  }

  std::vector<ProgramStep> steps;
  std::vector<ProgramEntry> entries;  // which steps they have
  IndexVec<ValueId, ProgramValue> values;
  Places places;
  std::vector<FusedGroup> groups;
  std::vector<ValueId> ports;
  uint32_t num_events;

  void swap_with(Program& p) {
    steps.swap(p.steps);
    entries.swap(p.entries);
    std::swap(values, p.values);
    std::swap(num_events, p.num_events);
    for (size_t i = 0; i < ports.size(); ++i)
      std::swap(ports[i], p.ports[PortId{static_cast<uint32_t>(i)}].value);
    places.swap_with(p);
    groups.swap(p.fused_groups);
  }
};

}  // namespace

Status run_last_passes(Program& program, int64_t limit_bytes, Packing packing, PassOptions options,
                       Monitor& monitor) {
  static constexpr const PassDef* kAll[] = {&kScheduleCollectives, &kFuseSteps, &kRepeatInGroups,
                                            &kPlanMemory};
  static constexpr const PassDef* kScheduled[] = {&kScheduleCollectives};
  static constexpr const PassDef* kWithGroups[] = {&kFuseSteps, &kRepeatInGroups, &kPlanMemory};
  static constexpr const PassDef* kWithout[] = {&kPlanMemory};
  if (limit_bytes == INT64_MAX)
    return run_passes(program, kAll, options, monitor, Verify::kLater).status();
  options.enough_bytes = packing == Packing::kEnough ? std::max<int64_t>(limit_bytes, 1) : 0;
  options.fitting_bytes = packing == Packing::kTight ? limit_bytes : INT64_MAX;
  SHW_RETURN_IF_ERROR(run_passes(program, kScheduled, options, monitor, Verify::kLater).status());
  Order other(program);
  SHW_RETURN_IF_ERROR(run_passes(program, kWithGroups, options, monitor, Verify::kLater).status());
  const int64_t with_groups = scratch_bytes(program);
  if (program.fused_groups.empty() || with_groups <= limit_bytes) return {};
  other.swap_with(program);
  SHW_RETURN_IF_ERROR(run_passes(program, kWithout, options, monitor, Verify::kLater).status());
  if (scratch_bytes(program) > with_groups) other.swap_with(program);
  return {};
}

Status pack_tightly(Program& program, PassOptions options, Monitor& monitor) {
  static constexpr const PassDef* kPack[] = {&kPlanMemory};
  // Packing with a lower goal can end with a larger arena.
  const int64_t before = scratch_bytes(program);
  Places places(program);
  options.enough_bytes = 0;
  SHW_RETURN_IF_ERROR(run_passes(program, kPack, options, monitor, Verify::kLater).status());
  if (scratch_bytes(program) > before) places.swap_with(program);
  return {};
}

Status pack_for_long(Program& program, Monitor& monitor) {
  const bool is_small = program.arena_bytes <= small_arena(program.live_peak_bytes);
  if (is_small || monitor.improve_until.passed()) return {};
  std::vector<Life> lives = lives_of(program);
  const std::vector<int64_t> live = live_bytes(lives, program.steps.size());
  SHW_ASSIGN_OR_RETURN(const int64_t bytes,
                       pack(lives, live, 0, INT64_MAX, monitor, PackEffort::kLong));
  if (bytes >= program.arena_bytes) return {};
  for (const Life& l : lives) program.storages[StorageId{l.storage}].offset_bytes = l.offset;
  program.arena_bytes = bytes;
  return {};
}

}  // namespace shw
