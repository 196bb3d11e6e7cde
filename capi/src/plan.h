// What a plan is behind its handle. Executors share it, so that the caller may destroy the handle
// at any time.
#pragma once
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "context.h"
#include "plan/plan.h"
#include "plan/report.h"
#include "sharding/layout.h"

namespace shw::capi {

// A plan and the texts that the queries lend.
struct LoadedPlan {
  static Result<std::shared_ptr<const LoadedPlan>> create(ContextRef context, Plan plan,
                                                          std::vector<PhaseTime> phases);
  struct EntryTexts {
    std::vector<std::string> input_layouts, output_layouts;
  };

  ContextRef context;
  Plan plan;
  Mesh mesh;
  std::vector<PhaseTime> phases;  // of the compilation; empty for a plan that was read
  std::vector<std::pair<std::string, CollectiveTotal>> collectives;
  std::vector<EntryTexts> entries;
};
using PlanRef = std::shared_ptr<const LoadedPlan>;

}  // namespace shw::capi

struct shw_plan {
  shw::capi::PlanRef ref;
};
