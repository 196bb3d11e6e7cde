// `run --dry-run`: counts what one rank requests of its device, on a device that executes nothing.
#pragma once
#include <memory>
#include <string>

#include "plan/plan.h"
#include "runtime/null/device.h"

namespace shw::tools {

struct DryRun {
  int64_t ranks = 0;
  runtime::null::Counts counts;  // totals of all runs; memory_bytes: between runs
};

// Runs the entry `repeat` times. All ranks run the same program on pieces of the same size. Inputs
// are not needed. INVALID_ARGUMENT, NOT_FOUND: as a run.
Result<DryRun> dry_run(std::shared_ptr<const Plan> plan, const std::string& entry, int64_t repeat);

std::string to_json(const DryRun& run, const std::string& entry);
std::string to_text(const DryRun& run, const std::string& entry);

}  // namespace shw::tools
