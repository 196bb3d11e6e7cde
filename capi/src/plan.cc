// shw_plan: compile, load, save. plan_query.cc has the queries of a plan.
#include "plan.h"

#include <chrono>

#include "blob.h"
#include "compile_options.h"
#include "compiler/reshard.h"

namespace shw::capi {
namespace {

using Clock = std::chrono::steady_clock;

// A plan is always loaded from its bytes, even after compilation, so that there is only one way to
// construct a program.
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

std::vector<size_t> numbers(const std::vector<PortId>& ports) {
  std::vector<size_t> out;
  for (PortId port : ports) out.push_back(port.v);
  return out;
}
std::vector<size_t> numbers(const std::vector<uint32_t>& entries) {
  return {entries.begin(), entries.end()};
}

}  // namespace

Result<PortId> port_of(const LoadedPlan& plan, size_t index) {
  SHW_RETURN_IF_ERROR(check_index(index, plan.plan.program.ports.size(), "port"));
  return PortId{static_cast<uint32_t>(index)};
}

bool is_of_other_rank(const PieceOf& piece, const PlanRef& plan, const Port& port, int64_t rank) {
  if (piece.rank < 0 || piece.rank == rank || piece.plan.lock() != plan) return false;
  for (int m = 0; m < plan->mesh.rank(); ++m)
    if (!port.layout[m].is_replicate() &&
        plan->mesh.coordinate(piece.rank, m) != plan->mesh.coordinate(rank, m))
      return true;
  return false;
}

Result<PlanRef> plan_of(const ContextRef& context, Compiled compiled) {
  SHW_ASSIGN_OR_RETURN(Plan plan, read_back(compiled.bytes, compiled.phases));
  SHW_ASSIGN_OR_RETURN(PlanRef loaded,
                       LoadedPlan::create(context, std::move(plan), std::move(compiled.phases),
                                          compiled.solve_stats));
  log_compiled(*loaded);
  return loaded;
}

Result<PlanRef> LoadedPlan::create(ContextRef context, Plan plan, std::vector<PhaseTime> phases,
                                   const solver::SolveStats& effort) {
  SHW_ASSIGN_OR_RETURN(Mesh mesh, Mesh::create(plan.program.mesh));
  const int mesh_rank = mesh.rank();
  auto loaded = std::make_shared<LoadedPlan>(LoadedPlan{std::move(context),
                                                        std::move(plan),
                                                        std::move(mesh),
                                                        std::move(phases),
                                                        effort,
                                                        {},
                                                        {},
                                                        {},
                                                        {}});
  for (auto& total : collective_totals(loaded->plan.program)) loaded->collectives.push_back(total);
  const Program& program = loaded->plan.program;
  for (const Port& port : program.ports) {
    loaded->port_layouts.push_back(to_string(port.layout, mesh_rank));
    loaded->port_dims.push_back(port.sizes.empty() ? "" : exprs_text(port.sizes, program.symbols));
  }
  for (const ProgramEntry& entry : loaded->plan.program.entries)
    loaded->entries.push_back(
        {numbers(entry.inputs), numbers(entry.outputs), numbers(entry.after)});
  return PlanRef(std::move(loaded));
}

}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

shw_status* shw_plan_compile(shw_context* context, shw_bytes graph,
                             const shw_compile_options* options, shw_plan** out_plan) {
  return make_handle(out_plan, "out_plan", [&]() -> Result<std::unique_ptr<shw_plan>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(CompileRequest request,
                         read_compile_options(options, context->ref->tasks()));
    SHW_ASSIGN_OR_RETURN(const std::span<const uint8_t> bytes, bytes_of(graph, "graph"));
    SHW_ASSIGN_OR_RETURN(Compiled compiled, compile(bytes, request.options, request.monitor));
    SHW_ASSIGN_OR_RETURN(PlanRef plan, plan_of(context->ref, std::move(compiled)));
    return std::make_unique<shw_plan>(shw_plan{std::move(plan)});
  });
}

shw_status* shw_plan_compile_reshard(shw_context* context, const char* type, const char* from,
                                     const char* to, const shw_compile_options* options,
                                     shw_plan** out_plan) {
  return make_handle(out_plan, "out_plan", [&]() -> Result<std::unique_ptr<shw_plan>> {
    SHW_WANT(context);
    SHW_WANT(type);
    SHW_WANT(from);
    SHW_WANT(to);
    SHW_ASSIGN_OR_RETURN(CompileRequest request,
                         read_compile_options(options, context->ref->tasks()));
    SHW_ASSIGN_OR_RETURN(Compiled compiled,
                         compile_reshard(type, from, to, request.options, request.monitor));
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
