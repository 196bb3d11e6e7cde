// The steps of a group as a device is asked about them (Device::prepare_group).
#pragma once
#include <vector>

#include "runtime/fusion/group.h"
#include "runtime/kernel.h"

namespace shw::runtime {

class GroupSteps {
 public:
  // `members`: some of a group, in a row; program and mesh outlive this object.
  GroupSteps(const Program& program, std::span<const FusedStep> members, const Mesh& mesh,
             int64_t rank);
  // As they run slice by slice: the types are those of a slice. The members outlive this object.
  struct InSlices {};
  GroupSteps(const Program& program, std::span<const FusedStep> members, const Mesh& mesh,
             int64_t rank, InSlices);
  GroupSteps(const GroupSteps&) = delete;
  GroupSteps& operator=(const GroupSteps&) = delete;
  const std::vector<GroupStep>& steps() const { return steps_; }

 private:
  // What the steps refer to, by member.
  std::vector<std::vector<const TensorType*>> inputs_, outputs_;
  std::vector<std::vector<GroupOperand>> operands_;
  std::vector<GroupStep> steps_;
};

// As StepOrigin's.
int64_t node_of(const ProgramStep& step);

// Types of a step's operands; null: absent.
std::vector<const TensorType*> types_of(const Program& program,
                                        const std::vector<ValueId>& operands);

}  // namespace shw::runtime
