#include "runtime/step_kernels.h"
#include "runtime/collective/members.h"

#include <algorithm>

#include "runtime/fusion/fused_kernel.h"
#include "runtime/fusion/group_steps.h"
#include "runtime/program_layout.h"
#include "runtime/validate.h"
#include "sharding/mesh_groups.h"

namespace shw::runtime {
namespace {

constexpr std::string_view kRegionKernel = "local_map";  // supplied by the caller, not by a backend

// The same on every backend: the stream copies.
class HostCopyKernel final : public PreparedKernel {
 public:
  HostCopyKernel(int64_t bytes, CopyKind kind) : bytes_(bytes), kind_(kind) {}
  void launch(Stream& stream, void* const* buffers) override {
    stream.copy(buffers[1], buffers[0], bytes_, kind_);
  }

 private:
  const int64_t bytes_;
  const CopyKind kind_;
};

}  // namespace

struct StepKernels::Prepare {
  const Program& program;
  Device& device;
  ChannelProvider& provider;
  const std::vector<RegionBody>& regions;
  StepKernels& out;

  Result<Channel*> channel_of(Channels& channels, const std::vector<uint8_t>& axes) const {
    const auto known =
        std::ranges::find_if(channels, [&](const auto& item) { return item.first == axes; });
    if (known != channels.end()) return known->second.get();
    SHW_ASSIGN_OR_RETURN(auto made, provider.channel(axes));
    return channels.emplace_back(axes, std::move(made)).second.get();
  }

  // Regions can share channels, because they run one after another on the compute stream.
  Result<std::vector<RegionGroup*>> region_groups(const ProgramStep& step) const {
    SHW_ASSIGN_OR_RETURN(const auto all,
                         parse_groups(step.attrs.get_string(AttrKey::kGroups), provider.mesh()));
    if (!all.empty() && !device.can().host_access)
      return unimplemented(
          "the groups of a manual region exchange data from the host, which cannot reach the "
          "memory of a " +
          std::string(device.device_class().name) + " device");
    std::vector<RegionGroup*> groups;
    for (const auto& axes : all) {
      SHW_ASSIGN_OR_RETURN(Channel * channel, channel_of(out.region_channels_, axes));
      out.region_groups_.push_back(std::make_unique<RegionGroup>(*channel, node_of(step)));
      groups.push_back(out.region_groups_.back().get());
    }
    return groups;
  }

  Result<std::unique_ptr<PreparedKernel>> region(const ProgramStep& step,
                                                 const KernelArgs& args) const {
    const std::string name(step.attrs.get_string(AttrKey::kRegion));
    const auto body = std::ranges::find(regions, name, &RegionBody::name);
    if (body == regions.end())
      return unimplemented("the manual region '" + name +
                           "' has no body: give one when the executor is made");
    SHW_ASSIGN_OR_RETURN(const std::vector<RegionGroup*> groups, region_groups(step));
    return body->prepare(device, {args, groups});
  }

  Result<std::unique_ptr<PreparedKernel>> compute(const ProgramStep& step) const {
    const auto inputs = types_of(program, step.inputs), outputs = types_of(program, step.outputs);
    const KernelArgs args{inputs, outputs, step.attrs, provider.mesh(), provider.rank()};
    // A dry run needs no body.
    if (step.kernel == kRegionKernel && device.can().computes) return region(step, args);
    return device.prepare(step.kernel, args);
  }

  Result<std::unique_ptr<PreparedKernel>> collective(const ProgramStep& step) const {
    const auto& axes = step.collective.axes;
    SHW_ASSIGN_OR_RETURN(Channel * channel, channel_of(out.channels_, axes));
    SHW_ASSIGN_OR_RETURN(CollectiveSpec spec, collective_spec(program, step, channel->size()));
    if (spec.kind == CollectiveKind::kPermute) {
      const PermutePeers peers =
          permute_peers(provider.mesh(), axes, step.collective.to_axes, provider.rank());
      spec.source = peers.source;
      spec.target = peers.target;
    }
    return channel->prepare(spec);
  }

  Result<std::unique_ptr<PreparedKernel>> prepare_step(const ProgramStep& step) const {
    if (step.collective.kind != CollectiveKind::kNone) return collective(step);
    const HostCopy copy = host_copy(program, step);
    if (copy == HostCopy::kNone) return compute(step);
    return std::unique_ptr<PreparedKernel>(new HostCopyKernel(
        program.values[step.inputs[0]].type.bytes(),
        copy == HostCopy::kToHost ? CopyKind::kDeviceToHost : CopyKind::kHostToDevice));
  }

  void add(std::vector<uint32_t> steps, std::vector<ValueId> operands,
           std::unique_ptr<PreparedKernel> kernel) const {
    const ProgramStep& first = program.steps[steps[0]];
    kernel->origin = {node_of(first), first.kernel};
    const uint32_t records = program.steps[steps.back()].records;
    out.launches_.push_back({std::move(steps), std::move(operands), records, std::move(kernel)});
  }

  Status step(uint32_t s) const {
    const ProgramStep& step = program.steps[s];
    auto kernel = prepare_step(step);
    if (!kernel.ok()) return at_step(s, kernel.status());
    add({s}, operands_of_step(step), std::move(*kernel));
    return {};
  }
  static std::vector<ValueId> operands_of_step(const ProgramStep& step) {
    std::vector<ValueId> operands(step.inputs.begin(), step.inputs.end());
    operands.insert(operands.end(), step.outputs.begin(), step.outputs.end());
    return operands;
  }

  // Makes the steps run slice by slice. False: they must run one after another.
  bool slices(const FusedGroup& fused, const UseCounts& uses) const {
    const SlicedGroup group = slice_group(program, uses, fused);
    auto kernel = prepare_group(program, group, device, provider.mesh(), provider.rank());
    if (!kernel.ok()) return false;
    std::vector<uint32_t> steps;
    for (const FusedStep& member : group.members) steps.push_back(member.step);
    add(std::move(steps), operands_of(group), std::move(*kernel));
    return true;
  }

  // Uses kernels for several steps where the device has them.
  Status group(const FusedGroup& fused, const UseCounts& uses) const {
    const SlicedGroup group = slice_group(program, uses, fused);
    for (size_t done = 0; done < group.members.size();) {
      SHW_ASSIGN_OR_RETURN(const size_t more, first_of(std::span(group.members).subspan(done)));
      done += more;
    }
    return {};
  }

  // Returns how many steps the kernel covers.
  Result<size_t> first_of(std::span<const FusedStep> members) const {
    const GroupSteps group(program, members, provider.mesh(), provider.rank());
    auto kernel = device.prepare_group(group.steps());
    if (!kernel.ok()) {
      if (kernel.status().code() != Code::kUnimplemented)
        return at_step(members[0].step, kernel.status());
      SHW_RETURN_IF_ERROR(step(members[0].step));
      return size_t{1};
    }
    std::vector<uint32_t> done;
    std::vector<ValueId> buffers;
    for (const FusedStep& member : members.first(kernel->num_steps)) {
      done.push_back(member.step);
      for (const FusedOperand& o : member.operands) buffers.push_back(o.value);
    }
    add(std::move(done), std::move(buffers), std::move(kernel->kernel));
    return kernel->num_steps;
  }
  Status at_step(uint32_t s, Status status) const {
    status.at_node(program.steps[s].node, program.steps[s].kernel);
    return status;
  }
};

Result<StepKernels> StepKernels::create(const Program& program, Device& device,
                                        ChannelProvider& provider,
                                        const std::vector<RegionBody>& regions, bool fuse) {
  StepKernels kernels;
  const Prepare prepare{program, device, provider, regions, kernels};
  const bool in_slices = fuse && device.can().slices;
  const UseCounts uses = count_uses(program);
  auto group = program.fused_groups.begin();
  const auto num_steps = static_cast<uint32_t>(program.steps.size());
  for (uint32_t s = 0; s < num_steps;) {
    const bool begins = group != program.fused_groups.end() && group->first_step == s;
    const FusedGroup* fused = begins ? &*group++ : nullptr;
    if (fused != nullptr && in_slices && prepare.slices(*fused, uses)) {
      s += fused->num_steps;
    } else if (fused != nullptr && fuse && !device.can().slices) {
      SHW_RETURN_IF_ERROR(prepare.group(*fused, uses));
      s += fused->num_steps;
    } else {
      SHW_RETURN_IF_ERROR(prepare.step(s));
      ++s;
    }
  }
  return kernels;
}

int64_t StepKernels::group_bytes(const Program& program) const {
  constexpr size_t kNone = SIZE_MAX;
  int64_t bytes = 0;
  IndexVec<StorageId, size_t> launch_of(program.storages.size(), kNone);
  for (size_t l = 0; l < launches_.size(); ++l)
    for (const uint32_t s : launches_[l].steps)
      for (const ValueId v : Prepare::operands_of_step(program.steps[s])) {
        if (!v.valid()) continue;
        const StorageId storage = program.values[v].storage;
        if (program.storages[storage].kind != StorageKind::kGroup) continue;
        const bool has_to_itself = launches_[l].steps.size() > 1 &&
                                   (launch_of[storage] == kNone || launch_of[storage] == l);
        launch_of[storage] = l;
        if (has_to_itself) continue;
        const ProgramStorage& needed = program.storages[storage];
        bytes = std::max(bytes, needed.offset_bytes + padded_bytes(program, needed.bytes));
      }
  return bytes;
}

std::vector<int64_t> StepKernels::workspace_bytes(const Program& program) const {
  std::vector<int64_t> most(num_streams(program));
  for (const StepLaunch& launch : launches_) {
    int64_t& bytes = most[static_cast<size_t>(program.steps[launch.steps[0]].stream)];
    bytes = std::max(bytes, launch.kernel->workspace_bytes());
  }
  return most;
}

}  // namespace shw::runtime
