// What a rank holds at the highest point of a step, as the planner counts it: for a person, and for
// machines.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "support/json_writer.h"

namespace shw {

// Of the peak, by module. Modules whose paths differ in numbers alone stand together.
struct ModuleMemory {
  std::string module;  // "layers.*.attention.wq"; empty: of no module
  uint32_t count = 0;  // of modules
  int64_t bytes = 0;
  std::map<std::string, int64_t> by_kind;
};

// Both add up to the peak; the largest first.
std::vector<std::pair<std::string, int64_t>> memory_by_kind(const PlanSummary& summary);
std::vector<ModuleMemory> memory_by_module(const PlanSummary& summary);

// Lines of plan_text(); "" where no peak is known.
std::string memory_text(const PlanSummary& summary);
// The member `memory` of plan_json().
void write_memory(JsonWriter& j, const PlanSummary& summary);

}  // namespace shw
