// The steps of a group in the form in which Device::prepare_group takes them.
#pragma once
#include <vector>

#include "runtime/fusion/group.h"
#include "runtime/kernel.h"

namespace shw::runtime {

class GroupSteps {
 public:
  // `members`: consecutive members of a group. The program and the mesh must outlive this object.
  GroupSteps(const Program& program, std::span<const FusedStep> members, const Mesh& mesh,
             int64_t rank);
  // The same for steps that run slice by slice: the types are those of a slice. The members must
  // outlive this object.
  struct InSlices {};
  GroupSteps(const Program& program, std::span<const FusedStep> members, const Mesh& mesh,
             int64_t rank, InSlices);
  GroupSteps(const GroupSteps&) = delete;
  GroupSteps& operator=(const GroupSteps&) = delete;
  const std::vector<GroupStep>& steps() const { return steps_; }

 private:
  // Referenced by the steps; by member.
  std::vector<std::vector<const TensorType*>> inputs_, outputs_;
  std::vector<std::vector<GroupOperand>> operands_;
  std::vector<GroupStep> steps_;
};

// The node of a step, as in StepOrigin.
int64_t node_of(const ProgramStep& step);

// The types of a step's operands; null: absent.
std::vector<const TensorType*> types_of(const Program& program, std::span<const ValueId> operands);

}  // namespace shw::runtime
