#include "passes/last_passes.h"

#include "passes/pass.h"

namespace shw {

Status run_last_passes(Program& program, int64_t limit_bytes, Monitor& monitor) {
  static constexpr const PassDef* kScheduled[] = {&kScheduleCollectives};
  static constexpr const PassDef* kWithGroups[] = {&kFuseSteps, &kPlanMemory};
  static constexpr const PassDef* kWithout[] = {&kPlanMemory};
  SHW_RETURN_IF_ERROR(run_passes(program, kScheduled, monitor).status());
  const bool is_limited = limit_bytes < INT64_MAX;
  Program apart;
  if (is_limited) apart = program;
  SHW_RETURN_IF_ERROR(run_passes(program, kWithGroups, monitor).status());
  if (!is_limited || program.fused_groups.empty() || scratch_bytes(program) <= limit_bytes)
    return {};
  SHW_RETURN_IF_ERROR(run_passes(apart, kWithout, monitor).status());
  if (scratch_bytes(apart) <= scratch_bytes(program)) program = std::move(apart);
  return {};
}

}  // namespace shw
