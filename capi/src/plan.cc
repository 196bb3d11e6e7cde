// shw_plan: compile, load, save. What a plan says is in plan_query.cc.
#include "plan.h"

#include <chrono>
#include <cmath>
#include <cstddef>

#include "blob.h"
#include "cancel.h"
#include "strategy/strategies.h"

namespace shw::capi {

Result<std::span<const uint8_t>> bytes_of(shw_bytes bytes, const char* what) {
  if (bytes.data == nullptr && bytes.size != 0)
    return invalid_argument(std::string(what) + ".data is NULL and its size is not 0");
  return std::span(static_cast<const uint8_t*>(bytes.data), bytes.size);
}

Result<std::vector<std::pair<std::string, std::string>>> pins_of(const shw_pin* pins, size_t count,
                                                                 const char* what) {
  std::vector<std::pair<std::string, std::string>> ours;
  if (count != 0 && pins == nullptr)
    return invalid_argument(std::string(what) + "s is NULL, though there are to be " +
                            std::to_string(count));
  for (size_t i = 0; i < count; ++i) {
    if (pins[i].pattern == nullptr || pins[i].layout == nullptr)
      return invalid_argument(std::string(what) + " " + std::to_string(i) +
                              " has no pattern or no layout");
    ours.emplace_back(pins[i].pattern, pins[i].layout);
  }
  return ours;
}

Result<std::vector<std::string>> names_of(const char* const* names, size_t count,
                                          const char* what) {
  if (count != 0 && names == nullptr)
    return invalid_argument(std::string(what) + " is NULL, though there are to be " +
                            std::to_string(count));
  std::vector<std::string> ours;
  for (size_t i = 0; i < count; ++i) {
    if (names[i] == nullptr)
      return invalid_argument(std::string(what) + "[" + std::to_string(i) + "] is NULL");
    ours.emplace_back(names[i]);
  }
  return ours;
}

Result<ParameterBudget> budget_of(shw_param_budget kind, double factor) {
  if (kind != SHW_PARAM_BUDGET_FACTOR && factor != 0)
    return invalid_argument("param_budget_factor goes with SHW_PARAM_BUDGET_FACTOR only");
  switch (kind) {
    case 0:
    case SHW_PARAM_BUDGET_SMALLEST:
      return ParameterBudget{};
    case SHW_PARAM_BUDGET_NONE:
      return ParameterBudget{.kind = ParameterBudget::Kind::kNone};
    case SHW_PARAM_BUDGET_FACTOR:
      if (!(factor > 0 && factor <= 1))
        return invalid_argument("param_budget_factor is " + std::to_string(factor) +
                                ", expected more than 0 and at most 1");
      return ParameterBudget{.kind = ParameterBudget::Kind::kFactor, .factor = factor};
    default:
      return invalid_argument("param_budget " + std::to_string(kind) + " is unknown");
  }
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kCompileOptionsSize_0_1 =
    offsetof(shw_compile_options, progress_user) + sizeof(void*);

Result<std::string> mesh_text(const shw_mesh_axis* axes, size_t count) {
  if (count == 0) return std::string("rank=1");
  SHW_WANT(axes);
  if (count > kMaxMeshRank)
    return invalid_argument("a mesh has at most " + std::to_string(kMaxMeshRank) + " axes, not " +
                            std::to_string(count));
  std::vector<Mesh::Axis> ours;
  for (size_t i = 0; i < count; ++i) {
    const char* name = axes[i].name;
    if (name == nullptr) return invalid_argument("mesh axis " + std::to_string(i) + " has no name");
    if (std::strpbrk(name, ",=") != nullptr)
      return invalid_argument("mesh axis '" + std::string(name) + "': , and = separate axes");
    ours.push_back({name, axes[i].size});
  }
  SHW_ASSIGN_OR_RETURN(const Mesh mesh, Mesh::create(std::move(ours)));
  return mesh.to_string();
}

Result<Rules> rules_of(shw_rules rules) {
  switch (rules) {
    case 0:
    case SHW_RULES_FULL:
      return Rules::kFull;
    case SHW_RULES_COMPAT:
      return Rules::kCompat;
    default:
      return invalid_argument("rules " + std::to_string(rules) + " is unknown");
  }
}

Result<OverlapOptions> overlap_of(shw_overlap overlap, double scale) {
  if (overlap < 0 || overlap > SHW_OVERLAP_BOUNDED)
    return invalid_argument("overlap " + std::to_string(overlap) + " is unknown");
  OverlapOptions out;
  if (overlap == SHW_OVERLAP_PREFETCH) out.kind = Overlap::kPrefetch;
  if (overlap == SHW_OVERLAP_BOUNDED) out.kind = Overlap::kBounded;
  out.scale = scale;
  SHW_RETURN_IF_ERROR(check(out));
  return out;
}

constexpr double kMostOptimizerFactor = 1e6;

Result<CompileOptions> convert(const shw_compile_options& in) {
  SHW_RETURN_IF_ERROR(
      check_flags(in.flags, SHW_COMPILE_NO_EINSUM | SHW_COMPILE_NO_GRAPH | SHW_COMPILE_STRIDED));
  CompileOptions out;
  SHW_ASSIGN_OR_RETURN(out.mesh, mesh_text(in.mesh_axes, in.num_mesh_axes));
  if (in.hardware != nullptr) out.hardware = in.hardware;
  if (in.input_layout != nullptr) out.input_layout = in.input_layout;
  if (in.output_layout != nullptr) out.output_layout = in.output_layout;
  SHW_ASSIGN_OR_RETURN(out.pins, pins_of(in.pins, in.num_pins, "pin"));
  SHW_ASSIGN_OR_RETURN(out.rules, rules_of(in.rules));
  SHW_ASSIGN_OR_RETURN(out.parameter_budget, budget_of(in.param_budget, in.param_budget_factor));
  if (in.grad_reduce_dtype != 0) {
    out.grad_reduce_dtype = dtype_from_number(in.grad_reduce_dtype);
    if (!out.grad_reduce_dtype)
      return invalid_argument("grad_reduce_dtype " + std::to_string(in.grad_reduce_dtype) +
                              " is unknown");
  }
  if (in.num_threads < 0)
    return invalid_argument("num_threads is " + std::to_string(in.num_threads));
  if (!(in.time_limit_s >= 0))
    return invalid_argument("time_limit_s is " + std::to_string(in.time_limit_s));
  out.einsum = (in.flags & SHW_COMPILE_NO_EINSUM) == 0;
  out.strided = (in.flags & SHW_COMPILE_STRIDED) != 0;
  out.keep_graph = (in.flags & SHW_COMPILE_NO_GRAPH) == 0;
  out.solver.threads = static_cast<uint32_t>(in.num_threads);
  out.time_limit_s = in.time_limit_s;
  out.start_clock();
  if (in.memory_limit_bytes < 0)
    return invalid_argument("memory_limit_bytes is " + std::to_string(in.memory_limit_bytes));
  if (!(in.optimizer_factor >= 0 && in.optimizer_factor <= kMostOptimizerFactor))
    return invalid_argument("optimizer_factor is " + std::to_string(in.optimizer_factor));
  out.memory_limit_bytes = in.memory_limit_bytes;
  out.optimizer_factor = in.optimizer_factor;
  SHW_RETURN_IF_ERROR(check_reserved(in.reserved));
  SHW_ASSIGN_OR_RETURN(out.overlap, overlap_of(in.overlap, in.overlap_scale));
  SHW_ASSIGN_OR_RETURN(out.inputs, pins_of(in.input_layouts, in.num_input_layouts, "input_layout"));
  SHW_ASSIGN_OR_RETURN(out.outputs,
                       pins_of(in.output_layouts, in.num_output_layouts, "output_layout"));
  SHW_ASSIGN_OR_RETURN(out.without, names_of(in.without, in.num_without, "without"));
  return out;
}

// A plan is what its bytes say: also a fresh one is read, so that there is one way only for a
// program to come about.
Result<Plan> read_back(std::span<const uint8_t> bytes, std::vector<PhaseTime>& phases) {
  const Clock::time_point start = Clock::now();
  SHW_ASSIGN_OR_RETURN(Plan loaded, read_plan(bytes));
  phases.push_back({"read", std::chrono::duration<double>(Clock::now() - start).count()});
  return loaded;
}

void log_compiled(const LoadedPlan& loaded) {
  if (!loaded.context->wants_log(SHW_LOG_INFO)) return;
  const PlanSummary& s = loaded.plan.summary;
  double seconds = 0;
  for (const PhaseTime& phase : loaded.phases) seconds += phase.seconds;
  loaded.context->log(SHW_LOG_INFO, "placed " + std::to_string(s.num_nodes) + " nodes on " +
                                        loaded.mesh.to_string() + " in " + std::to_string(seconds) +
                                        " s: " + std::to_string(s.objective_us) + " us, " +
                                        (s.proven ? "proven" : "not proven"));
}

}  // namespace

Monitor monitor_of(const shw_cancel* cancel, shw_progress_fn progress, void* progress_user) {
  Monitor monitor;
  if (cancel != nullptr) monitor.cancel = &cancel->raised;
  if (progress != nullptr)
    monitor.on_progress = [progress, progress_user](const Progress& p) {
      const std::string phase(p.phase);
      const shw_progress c = {sizeof c, phase.c_str(), p.best_cost_us, p.lower_bound_us,
                              p.elapsed_s};
      return progress(progress_user, &c) != 0;
    };
  return monitor;
}

Result<PlanRef> plan_of(const ContextRef& context, Compiled compiled) {
  SHW_ASSIGN_OR_RETURN(Plan plan, read_back(compiled.bytes, compiled.phases));
  SHW_ASSIGN_OR_RETURN(PlanRef loaded,
                       LoadedPlan::create(context, std::move(plan), std::move(compiled.phases)));
  log_compiled(*loaded);
  return loaded;
}

Result<CompileRequest> read_options(const shw_compile_options* options) {
  SHW_ASSIGN_OR_RETURN(const shw_compile_options ours, copy_in(options, kCompileOptionsSize_0_1));
  SHW_ASSIGN_OR_RETURN(CompileOptions converted, convert(ours));
  Monitor monitor = monitor_of(ours.cancel, ours.progress, ours.progress_user);
  SHW_RETURN_IF_ERROR(monitor.poll());
  return CompileRequest{std::move(converted), std::move(monitor)};
}

Result<PlanRef> LoadedPlan::create(ContextRef context, Plan plan, std::vector<PhaseTime> phases) {
  SHW_ASSIGN_OR_RETURN(Mesh mesh, Mesh::create(plan.program.mesh));
  const int mesh_rank = mesh.rank();
  auto loaded = std::make_shared<LoadedPlan>(
      LoadedPlan{std::move(context), std::move(plan), std::move(mesh), std::move(phases), {}, {}});
  for (auto& total : collective_totals(loaded->plan.program)) loaded->collectives.push_back(total);
  for (const Port& port : loaded->plan.program.ports)
    loaded->port_layouts.push_back(to_string(port.layout, mesh_rank));
  return PlanRef(std::move(loaded));
}

}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

void shw_compile_options_init(shw_compile_options* options, size_t size) {
  init_struct(options, size);
}

shw_status* shw_plan_compile(shw_context* context, shw_bytes graph,
                             const shw_compile_options* options, shw_plan** out_plan) {
  return make_handle(out_plan, "out_plan", [&]() -> Result<std::unique_ptr<shw_plan>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(CompileRequest request, read_options(options));
    SHW_ASSIGN_OR_RETURN(const std::span<const uint8_t> bytes, bytes_of(graph, "graph"));
    SHW_ASSIGN_OR_RETURN(Compiled compiled, compile(bytes, request.options, request.monitor));
    SHW_ASSIGN_OR_RETURN(PlanRef plan, plan_of(context->ref, std::move(compiled)));
    return std::make_unique<shw_plan>(shw_plan{std::move(plan)});
  });
}

shw_status* shw_plan_load(shw_context* context, shw_bytes bytes, shw_plan** out_plan) {
  return make_handle(out_plan, "out_plan", [&]() -> Result<std::unique_ptr<shw_plan>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(const std::span<const uint8_t> span, bytes_of(bytes, "bytes"));
    SHW_ASSIGN_OR_RETURN(Plan plan, read_plan(span));
    SHW_ASSIGN_OR_RETURN(PlanRef loaded, LoadedPlan::create(context->ref, std::move(plan), {}));
    return std::make_unique<shw_plan>(shw_plan{std::move(loaded)});
  });
}

shw_status* shw_plan_save(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context, write_plan(plan->ref->plan));
  });
}

void shw_plan_destroy(shw_plan* plan) { delete plan; }
