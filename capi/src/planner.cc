// shw_planner: one graph, many questions.
#include "shardwise/planner.h"

#include <cstddef>

#include "answers/explain.h"
#include "answers/explain_plan.h"
#include "answers/export.h"
#include "answers/plan_diff.h"
#include "blob.h"
#include "compiler/planner.h"
#include "plan.h"
#include "plan/module_tree.h"
#include "plan/placements.h"

using namespace shw;
using namespace shw::capi;

struct shw_planner {
  ContextRef context;
  std::unique_ptr<Planner> planner;
};

namespace shw::capi {
namespace {

constexpr size_t kChangesSize_0_1 = offsetof(shw_planner_changes, progress_user) + sizeof(void*);

template <class T>
Status append(Result<std::vector<T>> more, std::vector<T>& to) {
  SHW_RETURN_IF_ERROR(more.status());
  for (T& item : *more) to.push_back(std::move(item));
  return {};
}

// The planner's options, changed for one call.
Result<CompileRequest> changed(const Planner& planner, const shw_planner_changes* changes) {
  SHW_ASSIGN_OR_RETURN(const shw_planner_changes ours, copy_in(changes, kChangesSize_0_1));
  SHW_RETURN_IF_ERROR(check_flags(ours.flags, 0));
  CompileRequest request{planner.options(),
                         monitor_of(ours.cancel, ours.progress, ours.progress_user)};
  CompileOptions& o = request.options;
  SHW_RETURN_IF_ERROR(append(pins_of(ours.pins, ours.num_pins, "pin"), o.pins));
  SHW_RETURN_IF_ERROR(
      append(pins_of(ours.input_layouts, ours.num_input_layouts, "input_layout"), o.inputs));
  SHW_RETURN_IF_ERROR(
      append(pins_of(ours.output_layouts, ours.num_output_layouts, "output_layout"), o.outputs));
  if (ours.input_layout != nullptr) request.options.input_layout = ours.input_layout;
  if (ours.output_layout != nullptr) request.options.output_layout = ours.output_layout;
  SHW_RETURN_IF_ERROR(check_reserved(ours.reserved));
  SHW_ASSIGN_OR_RETURN(const ParameterBudget budget,
                       budget_of(ours.param_budget, ours.param_budget_factor));
  if (ours.param_budget != 0) request.options.parameter_budget = budget;
  if (ours.memory_limit_bytes < 0)
    return invalid_argument("memory_limit_bytes is " + std::to_string(ours.memory_limit_bytes));
  if (ours.memory_limit_bytes > 0) request.options.memory_limit_bytes = ours.memory_limit_bytes;
  SHW_ASSIGN_OR_RETURN(const auto placements, bytes_of(ours.placements, "placements"));
  if (!placements.empty()) request.options.placements.assign(placements.begin(), placements.end());
  if (!(ours.time_limit_s >= 0))
    return invalid_argument("time_limit_s is " + std::to_string(ours.time_limit_s));
  if (ours.time_limit_s > 0) request.options.time_limit_s = ours.time_limit_s;
  request.options.start_clock();
  SHW_RETURN_IF_ERROR(append(names_of(ours.without, ours.num_without, "without"), o.without));
  SHW_RETURN_IF_ERROR(request.monitor.poll());
  return request;
}

}  // namespace
}  // namespace shw::capi

shw_status* shw_planner_create(shw_context* context, shw_bytes graph,
                               const shw_compile_options* options, shw_planner** out_planner) {
  return make_handle(out_planner, "out_planner", [&]() -> Result<std::unique_ptr<shw_planner>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(CompileRequest request, read_options(options));
    SHW_ASSIGN_OR_RETURN(const std::span<const uint8_t> bytes, bytes_of(graph, "graph"));
    SHW_ASSIGN_OR_RETURN(std::unique_ptr<Planner> planner,
                         Planner::create(bytes, request.options, request.monitor));
    return std::make_unique<shw_planner>(shw_planner{context->ref, std::move(planner)});
  });
}

void shw_planner_destroy(shw_planner* planner) { delete planner; }

void shw_planner_changes_init(shw_planner_changes* changes, size_t size) {
  init_struct(changes, size);
}

shw_status* shw_planner_compile(shw_planner* planner, const shw_planner_changes* changes,
                                shw_plan** out_plan) {
  return make_handle(out_plan, "out_plan", [&]() -> Result<std::unique_ptr<shw_plan>> {
    SHW_WANT(planner);
    SHW_ASSIGN_OR_RETURN(CompileRequest request, changed(*planner->planner, changes));
    SHW_ASSIGN_OR_RETURN(Compiled compiled,
                         planner->planner->compile(request.options, request.monitor));
    SHW_ASSIGN_OR_RETURN(PlanRef plan, plan_of(planner->context, std::move(compiled)));
    return std::make_unique<shw_plan>(shw_plan{std::move(plan)});
  });
}

shw_status* shw_planner_explain(shw_planner* planner, const char* node, const char* layout,
                                const shw_planner_changes* changes, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(planner);
    SHW_WANT(node);
    SHW_ASSIGN_OR_RETURN(CompileRequest request, changed(*planner->planner, changes));
    SHW_ASSIGN_OR_RETURN(const PlacementConstraints constraints,
                         planner->planner->constraints_of(request.options));
    SHW_ASSIGN_OR_RETURN(const answers::Explanation explanation,
                         answers::explain(*planner->planner, constraints,
                                          {.node = node, .layout = layout == nullptr ? "" : layout},
                                          request.options.solver, request.monitor));
    return make_blob(planner->context, answers::to_json(explanation));
  });
}

shw_status* shw_planner_explain_plan(shw_planner* planner, const shw_planner_changes* changes,
                                     shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(planner);
    SHW_ASSIGN_OR_RETURN(CompileRequest request, changed(*planner->planner, changes));
    SHW_ASSIGN_OR_RETURN(const PlacementConstraints constraints,
                         planner->planner->constraints_of(request.options));
    SHW_ASSIGN_OR_RETURN(const answers::PlanExplanation explanation,
                         answers::explain_plan(*planner->planner, constraints,
                                               request.options.solver, request.monitor));
    return make_blob(planner->context, answers::to_json(explanation));
  });
}

shw_status* shw_planner_export(shw_planner* planner, const shw_planner_changes* changes,
                               shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(planner);
    Planner& ours = *planner->planner;
    SHW_ASSIGN_OR_RETURN(CompileRequest request, changed(ours, changes));
    SHW_ASSIGN_OR_RETURN(const PlacementConstraints constraints,
                         ours.constraints_of(request.options));
    SHW_ASSIGN_OR_RETURN(const Placed placed,
                         ours.place(constraints, request.options.solver, request.monitor));
    return make_blob(planner->context, answers::export_json(ours, placed));
  });
}

shw_status* shw_plan_to_module_tree(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context, module_tree_json(module_tree(plan->ref->plan)));
  });
}

shw_status* shw_plan_compare(const shw_plan* before, const shw_plan* after, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(before);
    SHW_WANT(after);
    const answers::PlanDiff diff = answers::plan_diff(before->ref->plan, after->ref->plan);
    return make_blob(before->ref->context, answers::to_json(diff));
  });
}

shw_status* shw_plan_to_placements(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context, placements_json(plan->ref->plan));
  });
}
