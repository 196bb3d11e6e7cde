// shw_planner: one graph, many questions.
#include "planner.h"

#include "answers/export.h"
#include "blob.h"
#include "compiler/pipeline.h"
#include "compiler/place.h"
#include "import/aten_table.h"
#include "plan.h"

using namespace shw;
using namespace shw::capi;

namespace shw::capi {
namespace {

constexpr size_t kPlannerChangesSize_0_2 = SHW_SIZE_TO(shw_planner_changes, progress_user);

template <class T>
Status append(Result<std::vector<T>> more, std::vector<T>& to) {
  SHW_RETURN_IF_ERROR(more.status());
  for (T& item : *more) to.push_back(std::move(item));
  return {};
}

Status change_constraints(const shw_planner_changes& in, CompileOptions& out) {
  if (in.input_layout != nullptr) out.input_layout = in.input_layout;
  if (in.output_layout != nullptr) out.output_layout = in.output_layout;
  SHW_RETURN_IF_ERROR(
      append(layouts_of(in.input_layouts, in.num_input_layouts, "input_layouts"), out.inputs));
  SHW_RETURN_IF_ERROR(
      append(layouts_of(in.output_layouts, in.num_output_layouts, "output_layouts"), out.outputs));
  SHW_RETURN_IF_ERROR(append(layouts_of(in.pins, in.num_pins, "pins"), out.pins));
  SHW_RETURN_IF_ERROR(append(names_of(in.without, in.num_without, "without"), out.without));
  SHW_ASSIGN_OR_RETURN(const auto placements, bytes_of(in.placements, "placements"));
  if (!placements.empty()) out.placements.assign(placements.begin(), placements.end());
  return {};
}

Status change_limits(const shw_planner_changes& in, CompileOptions& out) {
  SHW_ASSIGN_OR_RETURN(const int64_t memory_limit, memory_limit_of(in.memory_limit_bytes));
  if (memory_limit > 0) out.memory_limit_bytes = memory_limit;
  SHW_ASSIGN_OR_RETURN(const ParameterBudget budget,
                       budget_of(in.param_budget, in.param_budget_factor));
  if (in.param_budget != 0) out.parameter_budget = budget;
  SHW_ASSIGN_OR_RETURN(const double time_limit, time_limit_of(in.time_limit_s));
  if (time_limit > 0) out.time_limit_s = time_limit;
  return {};
}

}  // namespace

Result<CompileRequest> changed_request(const PreparedModel& model,
                                       const shw_planner_changes* changes) {
  SHW_ASSIGN_OR_RETURN(const shw_planner_changes in, copy_in(changes, kPlannerChangesSize_0_2));
  SHW_RETURN_IF_ERROR(check_flags(in.flags, 0));
  SHW_RETURN_IF_ERROR(check_reserved(in.reserved));
  CompileRequest request{model.options(), monitor_of(in.cancel, in.progress, in.progress_user)};
  SHW_RETURN_IF_ERROR(change_constraints(in, request.options));
  SHW_RETURN_IF_ERROR(change_limits(in, request.options));
  request.options.start();
  SHW_RETURN_IF_ERROR(request.monitor.poll());
  return request;
}

Result<Question> question_of(const PreparedModel& model, const shw_planner_changes* changes) {
  SHW_ASSIGN_OR_RETURN(CompileRequest request, changed_request(model, changes));
  SHW_ASSIGN_OR_RETURN(ConstrainedModel constrained,
                       ConstrainedModel::create(model, request.options, request.monitor));
  return Question{std::move(request), std::move(constrained)};
}

}  // namespace shw::capi

void shw_planner_changes_init(shw_planner_changes* changes, size_t size) {
  init_struct(changes, size);
}

shw_status* shw_planner_create(shw_context* context, shw_bytes graph,
                               const shw_compile_options* options, shw_planner** out_planner) {
  return make_handle(out_planner, "out_planner", [&]() -> Result<std::unique_ptr<shw_planner>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(CompileRequest request,
                         read_compile_options(options, context->ref->tasks()));
    SHW_ASSIGN_OR_RETURN(const std::span<const uint8_t> bytes, bytes_of(graph, "graph"));
    SHW_ASSIGN_OR_RETURN(std::unique_ptr<const PreparedModel> model,
                         PreparedModel::create(bytes, request.options, request.monitor));
    return std::make_unique<shw_planner>(shw_planner{context->ref, std::move(model)});
  });
}

void shw_planner_destroy(shw_planner* planner) { delete planner; }

shw_status* shw_planner_compile(shw_planner* planner, const shw_planner_changes* changes,
                                shw_plan** out_plan) {
  return make_handle(out_plan, "out_plan", [&]() -> Result<std::unique_ptr<shw_plan>> {
    SHW_WANT(planner);
    SHW_ASSIGN_OR_RETURN(CompileRequest request, changed_request(*planner->model, changes));
    SHW_ASSIGN_OR_RETURN(Compiled compiled,
                         compile(*planner->model, request.options, request.monitor));
    SHW_ASSIGN_OR_RETURN(PlanRef plan, plan_of(planner->context, std::move(compiled)));
    return std::make_unique<shw_plan>(shw_plan{std::move(plan)});
  });
}

shw_status* shw_planner_export(shw_planner* planner, const shw_planner_changes* changes,
                               shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(planner);
    const PreparedModel& model = *planner->model;
    SHW_ASSIGN_OR_RETURN(Question asked, question_of(model, changes));
    SHW_ASSIGN_OR_RETURN(const Placed placed,
                         place(asked.model, asked.request.options.solver, asked.request.monitor));
    return make_blob(planner->context, answers::export_json(model, placed, import::aten_target));
  });
}
