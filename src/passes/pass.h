// A pass improves a Program in place. Each pass is one file with one PassDef. The runner verifies
// the result, measures the time, counts changes and handles cancellation.
//
// Passes are idempotent: running one on its own result changes nothing.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "passes/pass_options.h"
#include "plan/program.h"
#include "support/monitor.h"

namespace shw {

struct PassDef {
  std::string_view name, summary;
  // Returns the number of changes.
  Result<uint32_t> (*run)(Program&, const PassOptions&, Monitor&);
};

extern const PassDef kCommonSubexpressions, kDeadSteps, kScheduleCollectives, kFuseSteps,
    kRepeatInGroups, kPlanMemory;

// In pipeline order.
std::span<const PassDef* const> default_passes();

struct PassReport {
  std::string_view name;
  uint32_t changed = 0;
  double seconds = 0;
};

// kLater: the caller verifies the program later, perhaps after more passes, or drops it.
enum class Verify : uint8_t { kNow, kLater };

// Runs the passes in order and verifies the program after the last. INTERNAL: the result is
// invalid; the message names the passes.
Result<std::vector<PassReport>> run_passes(Program& program, std::span<const PassDef* const> passes,
                                           const PassOptions& options, Monitor& monitor,
                                           Verify when = Verify::kNow);

}  // namespace shw
