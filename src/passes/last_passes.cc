#include "passes/last_passes.h"

#include <utility>

#include "passes/pass.h"

namespace shw {
namespace {

// What forming groups and placing storages changes.
struct Order {
  std::vector<ProgramStep> steps;
  IndexVec<StorageId, ProgramStorage> storages;
  std::vector<FusedGroup> groups;
  int64_t arena_bytes = 0, session_bytes = 0, host_bytes = 0, group_bytes = 0, live_peak_bytes = 0;

  void swap_with(Program& p) {
    steps.swap(p.steps);
    std::swap(storages, p.storages);
    groups.swap(p.fused_groups);
    std::swap(arena_bytes, p.arena_bytes);
    std::swap(session_bytes, p.session_bytes);
    std::swap(host_bytes, p.host_bytes);
    std::swap(group_bytes, p.group_bytes);
    std::swap(live_peak_bytes, p.live_peak_bytes);
  }
};

}  // namespace

Status run_last_passes(Program& program, int64_t limit_bytes, Monitor& monitor) {
  static constexpr const PassDef* kAll[] = {&kScheduleCollectives, &kFuseSteps, &kPlanMemory};
  static constexpr const PassDef* kScheduled[] = {&kScheduleCollectives};
  static constexpr const PassDef* kWithGroups[] = {&kFuseSteps, &kPlanMemory};
  static constexpr const PassDef* kWithout[] = {&kPlanMemory};
  if (limit_bytes == INT64_MAX) return run_passes(program, kAll, monitor).status();
  SHW_RETURN_IF_ERROR(run_passes(program, kScheduled, monitor).status());
  Order other;
  other.steps = program.steps;
  other.storages = program.storages;
  SHW_RETURN_IF_ERROR(run_passes(program, kWithGroups, monitor).status());
  const int64_t with_groups = scratch_bytes(program);
  if (program.fused_groups.empty() || with_groups <= limit_bytes) return {};
  other.swap_with(program);
  SHW_RETURN_IF_ERROR(run_passes(program, kWithout, monitor).status());
  if (scratch_bytes(program) > with_groups) other.swap_with(program);
  return {};
}

}  // namespace shw
