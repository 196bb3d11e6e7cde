#include "runtime/fusion/fused_kernel.h"

#include <algorithm>

#include "runtime/fusion/group_steps.h"
#include "runtime/host_kernel.h"

namespace shw::runtime {
namespace {

struct Pointer {
  size_t buffer = 0;  // number among the launch's buffers
  int64_t offset_bytes = 0;
  Dims stride_bytes;  // by loop
};
struct Link {
  std::unique_ptr<HostKernel> kernel;
  std::vector<Pointer> pointers;
};

class FusedKernel final : public HostKernel {
 public:
  FusedKernel(const SlicedGroup& group, size_t operands, std::vector<Link> links)
      : loops_(group.loops),
        links_(std::move(links)),
        operands_(operands),
        scratch_bytes_(group.scratch_bytes) {
    for (const Link& link : links_) {
      workspace_bytes_ = std::max(workspace_bytes_, link.kernel->workspace_bytes());
      pointers_.resize(std::max(pointers_.size(), link.pointers.size() + 1));
    }
    set_never_blocks();  // its steps only compute
  }

  int64_t workspace_bytes() const override { return scratch_bytes_ + workspace_bytes_; }

  Status compute(void* const* buffers) override {
    Dims at(loops_.size(), 0);
    while (true) {
      for (const Link& link : links_) SHW_RETURN_IF_ERROR(run_slice(link, buffers, at));
      size_t l = loops_.size();
      while (l > 0 && ++at[l - 1] == loops_[l - 1]) at[--l] = 0;
      if (l == 0) return {};
    }
  }

 private:
  Status run_slice(const Link& link, void* const* buffers, const Dims& at) {
    size_t n = 0;
    for (const Pointer& p : link.pointers) {
      auto* pointer = static_cast<std::byte*>(buffers[p.buffer]);
      if (pointer != nullptr) {
        pointer += p.offset_bytes;
        for (size_t l = 0; l < p.stride_bytes.size(); ++l) pointer += at[l] * p.stride_bytes[l];
      }
      pointers_[n++] = pointer;
    }
    pointers_[n] = static_cast<std::byte*>(buffers[operands_]) + scratch_bytes_;
    Status status = link.kernel->compute(pointers_.data());
    if (!status.ok()) status.at_node(link.kernel->origin.node, link.kernel->origin.kernel);
    return status;
  }

  const SliceLoops loops_;
  const std::vector<Link> links_;
  const size_t operands_;  // number of operands; index of the workspace buffer
  const int64_t scratch_bytes_;
  int64_t workspace_bytes_ = 0;
  std::vector<void*> pointers_;  // pointers of the running link
};

// Prepares the first member as a single kernel.
Result<GroupKernel> prepare_member(const Program& program, const FusedStep& member, Device& device,
                                   const Mesh& mesh, int64_t rank) {
  const ProgramStep& step = program.steps[member.step];
  std::vector<const TensorType*> types;
  for (const FusedOperand& o : member.operands)
    types.push_back(o.value.valid() ? &o.slice.type : nullptr);
  const std::span<const TensorType* const> all(types);
  const KernelArgs args{all.first(step.inputs.size()), all.subspan(step.inputs.size()),
                        member.attrs, mesh, rank};
  SHW_ASSIGN_OR_RETURN(auto kernel, device.prepare(step.kernel, args));
  return GroupKernel{std::move(kernel), 1};
}

// Prepares the first few members together if the device has a kernel for them, otherwise the first.
Result<GroupKernel> prepare_first(const Program& program, std::span<const FusedStep> members,
                                  Device& device, const Mesh& mesh, int64_t rank) {
  const GroupSteps group(program, members, mesh, rank, GroupSteps::InSlices{});
  auto several = device.prepare_group(group.steps());
  if (several.ok() || several.status().code() != Code::kUnimplemented) return several;
  return prepare_member(program, members[0], device, mesh, rank);
}

}  // namespace

std::vector<ValueId> operands_of(const SlicedGroup& group) {
  std::vector<ValueId> operands;
  for (const FusedStep& member : group.members)
    for (const FusedOperand& o : member.operands)
      if (o.temporary < 0) operands.push_back(o.value);
  return operands;
}

Result<std::unique_ptr<PreparedKernel>> prepare_group(const Program& program,
                                                      const SlicedGroup& group, Device& device,
                                                      const Mesh& mesh, int64_t rank) {
  const size_t operands = operands_of(group).size();
  std::vector<Link> links;
  size_t next = 0;
  const std::span<const FusedStep> members(group.members);
  for (size_t done = 0; done < members.size();) {
    SHW_ASSIGN_OR_RETURN(GroupKernel first,
                         prepare_first(program, members.subspan(done), device, mesh, rank));
    Link& link = links.emplace_back();
    link.kernel.reset(static_cast<HostKernel*>(first.kernel.release()));
    const ProgramStep& step = program.steps[members[done].step];
    link.kernel->origin = {node_of(step), step.kernel};
    for (const FusedStep& member : members.subspan(done, first.num_steps))
      for (const FusedOperand& o : member.operands) {
        if (o.temporary < 0)
          link.pointers.push_back({next++, 0, o.slice.stride_bytes});
        else
          link.pointers.push_back({operands, o.temporary, {}});
      }
    done += first.num_steps;
  }
  return std::unique_ptr<PreparedKernel>(
      std::make_unique<FusedKernel>(group, operands, std::move(links)));
}

}  // namespace shw::runtime
