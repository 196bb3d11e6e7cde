// shw_plan: what it says. The getters lend from the plan, which never changes.
#include <cstddef>

#include "blob.h"
#include "plan.h"

namespace shw::capi {
namespace {

constexpr size_t kSummarySize_0_1 = offsetof(shw_plan_summary, mesh_hash) + sizeof(uint64_t);
constexpr size_t kEntrySize_0_1 = offsetof(shw_plan_entry, output_bytes) + sizeof(int64_t);
constexpr size_t kPortSize_0_1 = offsetof(shw_plan_port, layout) + sizeof(const char*);
constexpr size_t kNodeSize_0_1 = offsetof(shw_plan_node, transition_us) + sizeof(double);

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
  c.live_peak_bytes = p.live_peak_bytes;
  c.hardware = s.hardware.c_str();
  c.rules = s.rules.c_str();
  c.graph_hash = s.graph_hash;
  c.options_hash = s.options_hash;
  c.mesh_hash = s.mesh_hash;
  c.memory_limit_bytes = s.memory_limit_bytes;
  c.memory_peak_bytes = s.memory_peak_bytes;
  c.memory_peak_node = s.memory_peak_node.c_str();
  c.memory_price_us_per_gib = s.memory_price_per_gib;
  c.memory_binding_points = s.memory_binding_points;
  return c;
}

int64_t local_bytes(const Program& program, const Port& port) {
  return port.value.valid() ? program.values[port.value].type.bytes() : 0;
}

shw_plan_entry to_c(const Program& program, const ProgramEntry& entry) {
  shw_plan_entry c{};
  c.name = entry.name.c_str();
  c.num_inputs = entry.inputs.size();
  c.num_outputs = entry.outputs.size();
  c.num_steps = entry.num_steps;
  for (PortId id : entry.inputs) {
    const Port& port = program.ports[id];
    c.input_bytes += local_bytes(program, port);
    if (port.role == PortRole::kParameter) c.parameter_bytes += local_bytes(program, port);
  }
  for (PortId id : entry.outputs) c.output_bytes += local_bytes(program, program.ports[id]);
  return c;
}

shw_plan_port to_c(const LoadedPlan& plan, PortId id) {
  const Program& program = plan.plan.program;
  const Port& port = program.ports[id];
  shw_plan_port c{};
  c.name = port.name.c_str();
  c.role = static_cast<shw_role>(port.role);
  c.dtype = static_cast<shw_dtype>(port.global.dtype);
  c.present = port.value.valid();
  c.rank = port.global.rank();
  c.dims = port.global.shape.begin();
  if (port.value.valid()) {
    const TensorType& local = program.values[port.value].type;
    c.local_dims = local.shape.begin();
    c.local_strides = local.strides.begin();
  }
  c.layout = plan.port_layouts[id].c_str();
  return c;
}
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

shw_plan_node to_c(const NodeDecision& node) {
  shw_plan_node c{};
  c.name = node.name.c_str();
  c.op = node.op.c_str();
  c.module_path = node.module_path.c_str();
  c.phase = node.phase == 0 ? SHW_PHASE_FORWARD : SHW_PHASE_BACKWARD;
  c.operand_layouts = node.operand_layouts.c_str();
  c.result_layout = node.result_layout.c_str();
  c.compute_us = node.compute_us;
  c.communication_us = node.comm_us;
  c.transition_us = node.transition_us;
  return c;
}

Result<size_t> find_entry(const Program& program, const std::string& name) {
  std::string known;
  for (size_t i = 0; i < program.entries.size(); ++i) {
    if (program.entries[i].name == name) return i;
    known += (i == 0 ? "" : ", ") + program.entries[i].name;
  }
  return Status(Code::kNotFound, "there is no entry '" + name + "'; there are: " + known);
}

}  // namespace
}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

void shw_plan_summary_init(shw_plan_summary* summary, size_t size) { init_struct(summary, size); }
void shw_plan_entry_init(shw_plan_entry* entry, size_t size) { init_struct(entry, size); }
void shw_plan_port_init(shw_plan_port* port, size_t size) { init_struct(port, size); }
void shw_plan_node_init(shw_plan_node* node, size_t size) { init_struct(node, size); }

shw_status* shw_plan_get_summary(const shw_plan* plan, shw_plan_summary* out_summary) {
  return fill_struct(out_summary, "out_summary", kSummarySize_0_1, [&](auto& out) -> Status {
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
    const std::vector<Mesh::Axis>& axes = plan->ref->plan.program.mesh;
    SHW_RETURN_IF_ERROR(check_index(index, axes.size(), "mesh axis"));
    out = {axes[index].name.c_str(), axes[index].size};
    return {};
  });
}

size_t shw_plan_num_entries(const shw_plan* plan) {
  return plan ? plan->ref->plan.program.entries.size() : 0;
}

shw_status* shw_plan_get_entry(const shw_plan* plan, size_t index, shw_plan_entry* out_entry) {
  return fill_struct(out_entry, "out_entry", kEntrySize_0_1, [&](auto& out) -> Status {
    SHW_WANT(plan);
    const Program& program = plan->ref->plan.program;
    SHW_RETURN_IF_ERROR(check_index(index, program.entries.size(), "entry"));
    out = to_c(program, program.entries[index]);
    return {};
  });
}

shw_status* shw_plan_find_entry(const shw_plan* plan, const char* name, size_t* out_index) {
  return fill_value(out_index, "out_index", [&](auto& out) -> Status {
    SHW_WANT(plan);
    SHW_WANT(name);
    SHW_ASSIGN_OR_RETURN(out, find_entry(plan->ref->plan.program, name));
    return {};
  });
}

shw_status* shw_plan_get_input(const shw_plan* plan, size_t entry, size_t index,
                               shw_plan_port* out_port) {
  return fill_struct(out_port, "out_port", kPortSize_0_1, [&](auto& out) -> Status {
    SHW_WANT(plan);
    const Program& program = plan->ref->plan.program;
    SHW_RETURN_IF_ERROR(check_index(entry, program.entries.size(), "entry"));
    const std::vector<PortId>& ports = program.entries[entry].inputs;
    SHW_RETURN_IF_ERROR(check_index(index, ports.size(), "input"));
    out = to_c(*plan->ref, ports[index]);
    return {};
  });
}

shw_status* shw_plan_get_output(const shw_plan* plan, size_t entry, size_t index,
                                shw_plan_port* out_port) {
  return fill_struct(out_port, "out_port", kPortSize_0_1, [&](auto& out) -> Status {
    SHW_WANT(plan);
    const Program& program = plan->ref->plan.program;
    SHW_RETURN_IF_ERROR(check_index(entry, program.entries.size(), "entry"));
    const std::vector<PortId>& ports = program.entries[entry].outputs;
    SHW_RETURN_IF_ERROR(check_index(index, ports.size(), "output"));
    out = to_c(*plan->ref, ports[index]);
    return {};
  });
}

size_t shw_plan_num_nodes(const shw_plan* plan) {
  return plan ? plan->ref->plan.summary.decisions.size() : 0;
}

shw_status* shw_plan_get_node(const shw_plan* plan, size_t index, shw_plan_node* out_node) {
  return fill_struct(out_node, "out_node", kNodeSize_0_1, [&](auto& out) -> Status {
    SHW_WANT(plan);
    const std::vector<NodeDecision>& nodes = plan->ref->plan.summary.decisions;
    SHW_RETURN_IF_ERROR(check_index(index, nodes.size(), "node"));
    out = to_c(nodes[index]);
    return {};
  });
}

size_t shw_plan_num_collectives(const shw_plan* plan) {
  return plan ? plan->ref->collectives.size() : 0;
}

shw_status* shw_plan_get_collective(const shw_plan* plan, size_t index,
                                    shw_plan_collective* out_collective) {
  return fill_value(out_collective, "out_collective", [&](auto& out) -> Status {
    SHW_WANT(plan);
    const auto& all = plan->ref->collectives;
    SHW_RETURN_IF_ERROR(check_index(index, all.size(), "kind of collective"));
    const auto& [kind, total] = all[index];
    out = {kind.c_str(), total.count, total.wire_bytes};
    return {};
  });
}

size_t shw_plan_num_memory_shares(const shw_plan* plan) {
  return plan ? plan->ref->plan.summary.memory_shares.size() : 0;
}

shw_status* shw_plan_get_memory_share(const shw_plan* plan, size_t index,
                                      shw_plan_memory_share* out_share) {
  return fill_value(out_share, "out_share", [&](auto& out) -> Status {
    SHW_WANT(plan);
    const auto& shares = plan->ref->plan.summary.memory_shares;
    SHW_RETURN_IF_ERROR(check_index(index, shares.size(), "share of memory"));
    const MemoryShare& share = shares[index];
    out = {share.kind.c_str(), share.module_path.c_str(), share.bytes};
    return {};
  });
}

size_t shw_plan_num_phases(const shw_plan* plan) { return plan ? plan->ref->phases.size() : 0; }

shw_status* shw_plan_get_phase(const shw_plan* plan, size_t index, shw_plan_phase* out_phase) {
  return fill_value(out_phase, "out_phase", [&](auto& out) -> Status {
    SHW_WANT(plan);
    const auto& phases = plan->ref->phases;
    SHW_RETURN_IF_ERROR(check_index(index, phases.size(), "phase"));
    out = {phases[index].name.data(), phases[index].seconds};  // names are literals
    return {};
  });
}

shw_status* shw_plan_to_json(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context, plan_json(plan->ref->plan, true));
  });
}

shw_status* shw_plan_to_text(const shw_plan* plan, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(plan);
    return make_blob(plan->ref->context, plan_text(plan->ref->plan));
  });
}
