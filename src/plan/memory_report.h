// Reports the memory of a rank at the peak of a step, as counted by the planner, as text and as
// JSON.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "support/json_writer.h"

namespace shw {

// A module's share of the peak. Modules whose paths differ only in numbers are combined.
struct ModuleMemory {
  std::string module;  // "layers.*.attention.wq"; empty: memory of no module
  uint32_t count = 0;  // of modules
  int64_t bytes = 0;
  std::map<std::string, int64_t> by_kind;
};

// The entries of each list add up to the peak; the largest comes first.
std::vector<std::pair<std::string, int64_t>> memory_by_kind(const PlanSummary& summary);
std::vector<ModuleMemory> memory_by_module(const PlanSummary& summary);

// Lines of plan_text(); empty if no peak is known.
std::string memory_text(const PlanSummary& summary);
// The member `memory` of plan_json().
void write_memory(JsonWriter& j, const PlanSummary& summary);

}  // namespace shw
