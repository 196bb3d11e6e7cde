// A pass improves a Program in place. Each is a file of this folder with one PassDef; the runner
// gives every one the same treatment: a check of the result, a timer, a change count, cancellation.
//
// A pass that runs again on its own result changes nothing.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "plan/program.h"
#include "support/monitor.h"

namespace shw {

struct PassDef {
  std::string_view name, summary;
  // Returns how many things it changed.
  Result<uint32_t> (*run)(Program&, Monitor&);
};

extern const PassDef kCommonSubexpressions, kDeadSteps, kScheduleCollectives, kPlanMemory;

// In the order in which the pipeline runs them.
std::span<const PassDef* const> default_passes();

struct PassReport {
  std::string_view name;
  uint32_t changed = 0;
  double seconds = 0;
};

// Runs the passes one after another; verifies the program after each. INTERNAL names the pass whose
// result is not sound.
Result<std::vector<PassReport>> run_passes(Program& program, std::span<const PassDef* const> passes,
                                           Monitor& monitor);

}  // namespace shw
