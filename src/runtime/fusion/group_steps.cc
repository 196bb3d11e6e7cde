#include "runtime/fusion/group_steps.h"

namespace shw::runtime {
namespace {

// True for memory that does not belong to the caller (program_memory.h).
bool is_aligned(StorageKind kind) {
  return is_placed(kind) || kind == StorageKind::kState || kind == StorageKind::kConstant;
}

}  // namespace

int64_t node_of(const ProgramStep& step) {
  return step.node == UINT32_MAX ? -1 : int64_t{step.node};
}

std::vector<const TensorType*> types_of(const Program& program, std::span<const ValueId> operands) {
  std::vector<const TensorType*> types;
  for (const ValueId v : operands) types.push_back(v.valid() ? &program.values[v].type : nullptr);
  return types;
}

GroupSteps::GroupSteps(const Program& program, std::span<const FusedStep> members, const Mesh& mesh,
                       int64_t rank) {
  for (const FusedStep& member : members) {
    const ProgramStep& step = program.steps[member.step];
    inputs_.push_back(types_of(program, step.inputs));
    outputs_.push_back(types_of(program, step.outputs));
    auto& operands = operands_.emplace_back();
    for (const FusedOperand& o : member.operands) {
      GroupOperand& operand = operands.emplace_back();
      if (!o.value.valid()) continue;
      const ProgramValue& value = program.values[o.value];
      const ProgramStorage& storage = program.storages[value.storage];
      operand = {value.storage.v, value.offset_bytes, o.temporary >= 0, is_aligned(storage.kind)};
      if (storage.kind == StorageKind::kGroup && storage.offset_bytes >= 0)
        operand.place_bytes = storage.offset_bytes + value.offset_bytes;
    }
  }
  for (size_t i = 0; i < members.size(); ++i) {
    const ProgramStep& step = program.steps[members[i].step];
    steps_.push_back({step.kernel,
                      {inputs_[i], outputs_[i], step.attrs, mesh, rank},
                      operands_[i],
                      node_of(step)});
  }
}

GroupSteps::GroupSteps(const Program& program, std::span<const FusedStep> members, const Mesh& mesh,
                       int64_t rank, InSlices) {
  for (const FusedStep& member : members) {
    const size_t num_inputs = program.steps[member.step].inputs.size();
    auto& inputs = inputs_.emplace_back();
    auto& outputs = outputs_.emplace_back();
    auto& operands = operands_.emplace_back();
    for (size_t i = 0; i < member.operands.size(); ++i) {
      const FusedOperand& o = member.operands[i];
      (i < num_inputs ? inputs : outputs).push_back(o.value.valid() ? &o.slice.type : nullptr);
      GroupOperand& operand = operands.emplace_back();
      operand.memory = o.memory;
      operand.offset_bytes = o.begin;
      operand.is_temporary = o.temporary >= 0;
      operand.end_bytes = o.end;
      if (o.temporary < 0) operand.slice_stride_bytes = o.slice.stride_bytes;
    }
  }
  for (size_t i = 0; i < members.size(); ++i) {
    const ProgramStep& step = program.steps[members[i].step];
    steps_.push_back({step.kernel,
                      {inputs_[i], outputs_[i], members[i].attrs, mesh, rank},
                      operands_[i],
                      node_of(step)});
  }
}

}  // namespace shw::runtime
