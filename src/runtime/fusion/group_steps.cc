#include "runtime/fusion/group_steps.h"

namespace shw::runtime {

std::vector<const TensorType*> types_of(const Program& program,
                                        const std::vector<ValueId>& operands) {
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
      operand = {value.storage.v, value.offset_bytes, o.temporary >= 0};
    }
  }
  for (size_t i = 0; i < members.size(); ++i) {
    const ProgramStep& step = program.steps[members[i].step];
    steps_.push_back(
        {step.kernel, {inputs_[i], outputs_[i], step.attrs, mesh, rank}, operands_[i]});
  }
}

}  // namespace shw::runtime
