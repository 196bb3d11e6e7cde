// What a plan is behind its handle. Executors share it, so that the caller may destroy the handle
// at any time.
#pragma once
#include <span>
#include <string>
#include <utility>
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
  ContextRef context;
  Plan plan;
  Mesh mesh;
  std::vector<PhaseTime> phases;  // of the compilation; empty for a plan that was read
  std::vector<std::pair<std::string, CollectiveTotal>> collectives;
  IndexVec<PortId, std::string> port_layouts;
};
using PlanRef = std::shared_ptr<const LoadedPlan>;

// What a caller asks for, and how it is told of progress and cancels.
struct CompileRequest {
  CompileOptions options;
  Monitor monitor;
};
Result<CompileRequest> read_options(const shw_compile_options* options);
Result<std::span<const uint8_t>> bytes_of(shw_bytes bytes, const char* what);
// `what`: one of the field that they are in.
Result<std::vector<std::pair<std::string, std::string>>> pins_of(const shw_pin* pins, size_t count,
                                                                 const char* what);
// `what`: the field that they are in.
Result<std::vector<std::string>> names_of(const char* const* names, size_t count, const char* what);
Result<ParameterBudget> budget_of(shw_param_budget kind, double factor);
Monitor monitor_of(const shw_cancel* cancel, shw_progress_fn progress, void* progress_user);
// The plan as its bytes say it, and a line in the log.
Result<PlanRef> plan_of(const ContextRef& context, Compiled compiled);

}  // namespace shw::capi

struct shw_plan {
  shw::capi::PlanRef ref;
};
