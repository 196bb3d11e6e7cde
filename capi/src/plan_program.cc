// shw_plan: the decisions, the resulting program, and its resource use. Getters return pointers
// into the plan, which never changes.
#include "plan.h"
#include "sharding/layout.h"
#include "shardwise/program.h"

namespace shw::capi {
namespace {

constexpr size_t kPlanNodeSize_0_2 = SHW_SIZE_TO(shw_plan_node, transition_us);
constexpr size_t kPlanStepSize_0_2 = SHW_SIZE_TO(shw_plan_step, cost_us);
constexpr size_t kPlanCollectiveSize_0_2 = SHW_SIZE_TO(shw_plan_collective, wire_bytes);
constexpr size_t kPlanMemoryShareSize_0_2 = SHW_SIZE_TO(shw_plan_memory_share, bytes);
constexpr size_t kPlanPhaseSize_0_2 = SHW_SIZE_TO(shw_plan_phase, duration_s);

shw_phase phase_of(uint8_t phase) { return phase == 0 ? SHW_PHASE_FORWARD : SHW_PHASE_BACKWARD; }

shw_plan_node to_c(const NodeDecision& node) {
  shw_plan_node c{};
  c.name = node.name.c_str();
  c.op = node.op.c_str();
  c.module_path = node.module_path.c_str();
  c.phase = phase_of(node.phase);
  c.operand_layouts = node.operand_layouts.c_str();
  c.result_layout = node.result_layout.c_str();
  c.compute_us = node.compute_us;
  c.communication_us = node.comm_us;
  c.transition_us = node.transition_us;
  return c;
}

size_t entry_of(const Program& program, size_t step) {
  for (size_t e = 0; e < program.entries.size(); ++e) {
    const ProgramEntry& entry = program.entries[e];
    if (step >= entry.first_step && step < size_t{entry.first_step} + entry.num_steps) return e;
  }
  return SHW_NONE;
}

shw_plan_step to_c(const Program& program, size_t index) {
  const ProgramStep& step = program.steps[index];
  const Collective& collective = step.collective;
  shw_plan_step c{};
  c.kernel = step.kernel.c_str();
  c.entry = entry_of(program, index);
  c.phase = phase_of(step.phase);
  c.stream = static_cast<int32_t>(step.stream);
  c.node_index = step.node == UINT32_MAX ? SHW_NONE : step.node;
  c.reduce = "";
  if (collective.kind != CollectiveKind::kNone) {
    c.axes = collective.axes.data();
    c.num_axes = collective.axes.size();
    c.to_axes = collective.to_axes.empty() ? nullptr : collective.to_axes.data();
  }
  if (collective.kind == CollectiveKind::kReduceScatter ||
      collective.kind == CollectiveKind::kAllReduce)
    c.reduce = reduce_op_name(collective.op).data();  // a literal
  c.wire_bytes = wire_bytes(program, step);
  c.cost_us = step.cost_us;
  return c;
}

}  // namespace
}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

void shw_plan_node_init(shw_plan_node* node, size_t size) { init_struct(node, size); }
void shw_plan_step_init(shw_plan_step* step, size_t size) { init_struct(step, size); }
void shw_plan_collective_init(shw_plan_collective* collective, size_t size) {
  init_struct(collective, size);
}
void shw_plan_memory_share_init(shw_plan_memory_share* share, size_t size) {
  init_struct(share, size);
}
void shw_plan_phase_init(shw_plan_phase* phase, size_t size) { init_struct(phase, size); }

size_t shw_plan_num_nodes(const shw_plan* plan) {
  return plan ? plan->ref->plan.summary.decisions.size() : 0;
}

shw_status* shw_plan_get_node(const shw_plan* plan, size_t index, shw_plan_node* out_node) {
  return fill_struct(out_node, "out_node", kPlanNodeSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(plan);
    SHW_RETURN_IF_ERROR(check_index(index, plan->ref->plan.summary.decisions.size(), "node"));
    out = to_c(plan->ref->plan.summary.decisions[index]);
    return {};
  });
}

size_t shw_plan_num_steps(const shw_plan* plan) {
  return plan ? plan->ref->plan.program.steps.size() : 0;
}

shw_status* shw_plan_get_step(const shw_plan* plan, size_t index, shw_plan_step* out_step) {
  return fill_struct(out_step, "out_step", kPlanStepSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(plan);
    SHW_RETURN_IF_ERROR(check_index(index, plan->ref->plan.program.steps.size(), "step"));
    out = to_c(plan->ref->plan.program, index);
    return {};
  });
}

size_t shw_plan_num_collectives(const shw_plan* plan) {
  return plan ? plan->ref->collectives.size() : 0;
}

shw_status* shw_plan_get_collective(const shw_plan* plan, size_t index,
                                    shw_plan_collective* out_collective) {
  return fill_struct(out_collective, "out_collective", kPlanCollectiveSize_0_2,
                     [&](auto& out) -> Status {
                       SHW_WANT(plan);
                       SHW_RETURN_IF_ERROR(
                           check_index(index, plan->ref->collectives.size(), "kind of collective"));
                       const auto& [kind, total] = plan->ref->collectives[index];
                       out.kind = kind.c_str();
                       out.count = total.count;
                       out.wire_bytes = static_cast<int64_t>(total.wire_bytes);
                       return {};
                     });
}

size_t shw_plan_num_memory_shares(const shw_plan* plan) {
  return plan ? plan->ref->plan.summary.memory_shares.size() : 0;
}

shw_status* shw_plan_get_memory_share(const shw_plan* plan, size_t index,
                                      shw_plan_memory_share* out_share) {
  return fill_struct(out_share, "out_share", kPlanMemoryShareSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(plan);
    SHW_RETURN_IF_ERROR(
        check_index(index, plan->ref->plan.summary.memory_shares.size(), "share of memory"));
    const MemoryShare& share = plan->ref->plan.summary.memory_shares[index];
    out.kind = share.kind.c_str();
    out.module_path = share.module_path.c_str();
    out.bytes = share.bytes;
    return {};
  });
}

size_t shw_plan_num_phases(const shw_plan* plan) { return plan ? plan->ref->phases.size() : 0; }

shw_status* shw_plan_get_phase(const shw_plan* plan, size_t index, shw_plan_phase* out_phase) {
  return fill_struct(out_phase, "out_phase", kPlanPhaseSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(plan);
    SHW_RETURN_IF_ERROR(check_index(index, plan->ref->phases.size(), "phase"));
    const PhaseTime& phase = plan->ref->phases[index];
    out.name = phase.name.data();  // a literal
    out.duration_s = phase.seconds;
    return {};
  });
}
