#include "passes/pass.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace shw {
namespace {

constexpr std::array<const PassDef*, 6> kDefaultPasses = {&kCommonSubexpressions, &kDeadSteps,
                                                          &kScheduleCollectives,  &kFuseSteps,
                                                          &kRepeatInGroups,       &kPlanMemory};

bool is_planned(const Program& program) {
  return std::all_of(program.storages.begin(), program.storages.end(), [](const ProgramStorage& s) {
    return !is_placed(s.kind) || s.offset_bytes >= 0;
  });
}

}  // namespace

std::span<const PassDef* const> default_passes() { return kDefaultPasses; }

Result<std::vector<PassReport>> run_passes(Program& program, std::span<const PassDef* const> passes,
                                           const PassOptions& options, Monitor& monitor,
                                           Verify when) {
  using Clock = std::chrono::steady_clock;
  std::vector<PassReport> reports;
  for (const PassDef* pass : passes) {
    SHW_RETURN_IF_ERROR(monitor.poll());
    const auto start = Clock::now();
    SHW_ASSIGN_OR_RETURN(const uint32_t changed, pass->run(program, options, monitor));
    reports.push_back(
        {pass->name, changed, std::chrono::duration<double>(Clock::now() - start).count()});
  }
  if (when == Verify::kLater) return reports;
  if (Status s = verify(program, is_planned(program)); !s.ok()) {
    std::string names;
    for (const PassDef* pass : passes)
      names += (names.empty() ? "'" : ", '") + std::string(pass->name) + "'";
    return internal_error("pass " + names + " broke the program: " + s.message());
  }
  return reports;
}

}  // namespace shw
