// shw_plan: costs, mesh, ports, entries, reports. Getters return pointers into the plan, which
// never changes.
#include "plan.h"

#include "answers/plan_trace.h"
#include "blob.h"
#include "plan/module_tree.h"
#include "plan/placements.h"
#include "plan/steps.h"
#include "shardwise/program.h"
#include "simulate/entry_times.h"

namespace shw::capi {
namespace {

constexpr size_t kPlanEffortSize_0_2 = SHW_SIZE_TO(shw_plan_effort, num_branch_nodes);
constexpr size_t kPlanSummarySize_0_2 = SHW_SIZE_TO(shw_plan_summary, memory_binding_points);
constexpr size_t kPlanPortSize_0_2 = SHW_SIZE_TO(shw_plan_port, symbolic_dims);
constexpr size_t kPlanEntrySize_0_2 = SHW_SIZE_TO(shw_plan_entry, symbol_sizes);
constexpr size_t kPlanEntryTimeSize_0_2 = SHW_SIZE_TO(shw_plan_entry_time, device_peak_bytes);

shw_plan_summary to_c(const LoadedPlan& loaded) {
  const PlanSummary& s = loaded.plan.summary;
  const Program& p = loaded.plan.program;
  shw_plan_summary c{};
  c.objective_us = s.objective_us;
  c.compute_us = s.compute_us;
  c.communication_us = s.comm_us;
  c.transition_us = s.transition_us;
  c.bound_us = s.bound_us;
  c.proven = s.proven;
  c.num_ranks = static_cast<int32_t>(loaded.mesh.num_ranks());
  c.num_nodes = s.num_nodes;
  c.num_strategies = s.num_strategies;
  c.num_steps = p.steps.size();
  c.arena_bytes = p.arena_bytes;
  c.session_bytes = p.session_bytes;
  c.host_bytes = host_memory_bytes(p);
  c.live_peak_bytes = p.live_peak_bytes;
  c.hardware = s.hardware.c_str();
  c.rules = s.rules.c_str();
  c.overlap = s.overlap.c_str();
  c.graph_hash = s.graph_hash;
  c.options_hash = s.options_hash;
  c.mesh_hash = s.mesh_hash;
  c.memory_limit_bytes = s.memory_limit_bytes;
  c.memory_peak_bytes = s.memory_peak_bytes;
  c.memory_program_bytes = s.memory_program_bytes;
  c.memory_peak_node = s.memory_peak_node.c_str();
  c.memory_price_us_per_gib = s.memory_price_per_gib;
  c.memory_binding_points = s.memory_binding_points;
  c.num_fused_groups = p.fused_groups.size();
  for (const FusedGroup& group : p.fused_groups) c.num_fused_steps += group.num_steps;
  c.group_bytes = p.group_bytes;
  return c;
}

int64_t local_bytes(const Program& program, const Port& port) {
  return port.value.valid() ? program.values[port.value].type.bytes() : 0;
}

// The port that owns this port's storage: itself, unless it overwrites an input.
PortId home_of(const Program& program, PortId id) {
  const Port& port = program.ports[id];
  if (!port.value.valid()) return id;
  return PortId{program.storages[program.values[port.value].storage].port};
}

shw_storage storage_of(const Program& program, const Port& port) {
  if (program.lies_in(port, StorageKind::kState)) return SHW_STORAGE_STATE;
  if (program.lies_in(port, StorageKind::kConstant)) return SHW_STORAGE_CONSTANT;
  return SHW_STORAGE_PORT;
}

shw_plan_port to_c(const LoadedPlan& plan, PortId id) {
  const Program& program = plan.plan.program;
  const Port& port = program.ports[id];
  shw_plan_port c{};
  c.name = port.name.c_str();
  c.role = static_cast<shw_role>(port.role);
  c.storage = storage_of(program, port);
  c.dtype = static_cast<shw_dtype>(port.global.dtype);
  c.present = port.value.valid();
  const PortId home = home_of(program, id);
  c.updates = home == id ? SHW_NONE : home.v;
  c.rank = port.global.rank();
  c.dims = port.global.shape.begin();
  if (port.value.valid()) {
    const TensorType& local = program.values[port.value].type;
    c.local_dims = local.shape.begin();
    c.local_strides = local.strides.begin();
  }
  c.layout = plan.port_layouts[id].c_str();
  if (!port.sizes.empty()) c.symbolic_dims = plan.port_dims[id].c_str();
  return c;
}
static_assert(SHW_FIRST_MESH_PART == kFirstMeshPart);
static_assert(SHW_ROLE_PARAMETER == static_cast<int>(PortRole::kParameter) &&
              SHW_ROLE_BUFFER == static_cast<int>(PortRole::kBuffer) &&
              SHW_ROLE_INPUT == static_cast<int>(PortRole::kInput) &&
              SHW_ROLE_TANGENT == static_cast<int>(PortRole::kTangent) &&
              SHW_ROLE_SEED == static_cast<int>(PortRole::kSeed) &&
              SHW_ROLE_OPTIMIZER_STATE == static_cast<int>(PortRole::kOptimizerState) &&
              SHW_ROLE_CONSTANT == static_cast<int>(PortRole::kConstant) &&
              SHW_ROLE_RESULT == static_cast<int>(PortRole::kResult) &&
              SHW_ROLE_GRADIENT == static_cast<int>(PortRole::kGradient) &&
              SHW_ROLE_UPDATE == static_cast<int>(PortRole::kUpdate));

shw_plan_entry to_c(const LoadedPlan& plan, size_t index) {
  const Program& program = plan.plan.program;
  const ProgramEntry& entry = program.entries[index];
  const LoadedPlan::Entry& lent = plan.entries[index];
  shw_plan_entry c{};
  c.name = entry.name.c_str();
  c.weight = entry.weight;
  c.inputs = lent.inputs.data();
  c.num_inputs = lent.inputs.size();
  c.outputs = lent.outputs.data();
  c.num_outputs = lent.outputs.size();
  c.after = lent.after.data();
  c.num_after = lent.after.size();
  c.num_steps = entry.num_steps;
  for (PortId id : entry.inputs) {
    const Port& port = program.ports[id];
    c.input_bytes += local_bytes(program, port);
    if (port.role == PortRole::kParameter) c.parameter_bytes += local_bytes(program, port);
  }
  for (PortId id : entry.outputs)
    if (home_of(program, id) == id) c.output_bytes += local_bytes(program, program.ports[id]);
  c.bucket_of = entry.bucket_of.c_str();
  if (!entry.bucket_of.empty()) c.symbol_sizes = entry.bucket.data();
  return c;
}

}  // namespace
}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

void shw_plan_summary_init(shw_plan_summary* summary, size_t size) { init_struct(summary, size); }
void shw_plan_port_init(shw_plan_port* port, size_t size) { init_struct(port, size); }
void shw_plan_entry_init(shw_plan_entry* entry, size_t size) { init_struct(entry, size); }
void shw_plan_entry_time_init(shw_plan_entry_time* time, size_t size) { init_struct(time, size); }

shw_status* shw_plan_get_summary(const shw_plan* plan, shw_plan_summary* out_summary) {
  return fill_struct(out_summary, "out_summary", kPlanSummarySize_0_2, [&](auto& out) -> Status {
    SHW_WANT(plan);
    out = to_c(*plan->ref);
    return {};
  });
}

int32_t shw_plan_num_ranks(const shw_plan* plan) {
  return plan ? static_cast<int32_t>(plan->ref->mesh.num_ranks()) : 0;
}

size_t shw_plan_num_mesh_axes(const shw_plan* plan) {
  return plan ? static_cast<size_t>(plan->ref->mesh.rank()) : 0;
}

shw_status* shw_plan_get_mesh_axis(const shw_plan* plan, size_t index, shw_mesh_axis* out_axis) {
  return fill_value(out_axis, "out_axis", [&](auto& out) -> Status {
    SHW_WANT(plan);
    const Mesh& mesh = plan->ref->mesh;
    if (!mesh.has_axis(static_cast<int64_t>(index)))
      SHW_RETURN_IF_ERROR(check_index(index, static_cast<size_t>(mesh.rank()), "mesh axis"));
    const int axis = static_cast<int>(index);
    out = {mesh.name(axis).c_str(), mesh.size(axis)};
    return {};
  });
}

size_t shw_plan_num_ports(const shw_plan* plan) {
  return plan ? plan->ref->plan.program.ports.size() : 0;
}

shw_status* shw_plan_get_port(const shw_plan* plan, size_t index, shw_plan_port* out_port) {
  return fill_struct(out_port, "out_port", kPlanPortSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(plan);
    SHW_ASSIGN_OR_RETURN(const PortId port, port_of(*plan->ref, index));
    out = to_c(*plan->ref, port);
    return {};
  });
}

size_t shw_plan_num_entries(const shw_plan* plan) { return plan ? plan->ref->entries.size() : 0; }

shw_status* shw_plan_get_entry(const shw_plan* plan, size_t index, shw_plan_entry* out_entry) {
  return fill_struct(out_entry, "out_entry", kPlanEntrySize_0_2, [&](auto& out) -> Status {
    SHW_WANT(plan);
    SHW_RETURN_IF_ERROR(check_index(index, plan->ref->entries.size(), "entry"));
    out = to_c(*plan->ref, index);
    return {};
  });
}

shw_status* shw_plan_get_entry_time(const shw_plan* plan, size_t index,
                                    shw_plan_entry_time* out_time) {
  return fill_struct(out_time, "out_time", kPlanEntryTimeSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(plan);
    const Program& program = plan->ref->plan.program;
    SHW_RETURN_IF_ERROR(check_index(index, program.entries.size(), "entry"));
    const EntryTime time = entry_time(program, program.entries[index]);
    out.us = time.us;
    out.exposed_us = time.exposed_us;
    out.unavoidable_us = time.unavoidable_us;
    out.lower_bound_us = time.lower_bound_us;
    out.longest_chain_us = time.longest_chain_us;
    out.device_peak_bytes = time.device_peak_bytes;
    return {};
  });
}

shw_status* shw_plan_to_json(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context,
                     plan_json(plan->ref->plan, entry_times(plan->ref->plan.program), true));
  });
}

shw_status* shw_plan_to_text(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context,
                     plan_text(plan->ref->plan, entry_times(plan->ref->plan.program)));
  });
}

shw_status* shw_plan_to_trace(const shw_plan* plan, const char* entry, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    SHW_ASSIGN_OR_RETURN(const std::string text,
                         answers::plan_trace(plan->ref->plan, entry == nullptr ? "" : entry));
    return make_blob(plan->ref->context, text);
  });
}

shw_status* shw_plan_to_module_tree(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context, module_tree_json(module_tree(plan->ref->plan)));
  });
}

shw_status* shw_plan_to_placements(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context, placements_json(plan->ref->plan));
  });
}

shw_status* shw_plan_to_module_tree_text(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context, module_tree_text(module_tree(plan->ref->plan)));
  });
}

shw_status* shw_plan_to_program_text(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context, to_text(plan->ref->plan.program));
  });
}

shw_status* shw_plan_to_steps(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context, steps_json(plan->ref->plan.program));
  });
}

shw_status* shw_plan_to_steps_text(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context, steps_text(plan->ref->plan.program));
  });
}

void shw_plan_effort_init(shw_plan_effort* effort, size_t size) { init_struct(effort, size); }

shw_status* shw_plan_get_effort(const shw_plan* plan, shw_plan_effort* out_effort) {
  return fill_struct(out_effort, "out_effort", kPlanEffortSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(plan);
    const solver::SolveStats& stats = plan->ref->effort;
    out.num_variables = stats.variables;
    out.num_edges = stats.edges;
    out.num_strategies = stats.labels;
    out.num_sweeps = stats.sweeps;
    out.num_branch_nodes = stats.branch_nodes;
    return {};
  });
}
