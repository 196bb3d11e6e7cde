#include "runtime/step_kernels.h"
#include "runtime/collective/members.h"

#include <algorithm>

#include "runtime/program_layout.h"
#include "runtime/validate.h"

namespace shw::runtime {
namespace {

constexpr std::string_view kRegionKernel = "local_map";  // no backend's: the caller's

}  // namespace

struct StepKernels::Prepare {
  const Program& program;
  Device& device;
  ChannelProvider& provider;
  const std::vector<RegionBody>& regions;
  StepKernels& out;

  Result<std::unique_ptr<PreparedKernel>> region(const ProgramStep& step,
                                                 const KernelArgs& args) const {
    const std::string name(step.attrs.get_string(AttrKey::kRegion));
    const auto body = std::ranges::find(regions, name, &RegionBody::name);
    if (body != regions.end()) return body->prepare(device, args);
    return unimplemented("the manual region '" + name +
                         "' has no body: give one when the executor is made");
  }

  Result<std::unique_ptr<PreparedKernel>> compute(const ProgramStep& step) const {
    const auto types_of = [&](const std::vector<ValueId>& operands) {
      std::vector<const TensorType*> types;
      for (ValueId v : operands) types.push_back(v.valid() ? &program.values[v].type : nullptr);
      return types;
    };
    const auto inputs = types_of(step.inputs), outputs = types_of(step.outputs);
    const KernelArgs args{inputs, outputs, step.attrs, provider.mesh(), provider.rank()};
    // A dry run has no need of a body.
    if (step.kernel == kRegionKernel && device.can().computes) return region(step, args);
    return device.prepare(step.kernel, args);
  }

  Result<std::unique_ptr<PreparedKernel>> collective(const ProgramStep& step) const {
    const auto& axes = step.collective.axes;
    auto known =
        std::ranges::find_if(out.channels_, [&](const auto& item) { return item.first == axes; });
    if (known == out.channels_.end()) {
      SHW_ASSIGN_OR_RETURN(auto made, provider.channel(axes));
      known = out.channels_.emplace(out.channels_.end(), axes, std::move(made));
    }
    Channel& channel = *known->second;
    SHW_ASSIGN_OR_RETURN(CollectiveSpec spec, collective_spec(program, step, channel.size()));
    if (spec.kind == CollectiveKind::kPermute) {
      const PermutePeers peers =
          permute_peers(provider.mesh(), axes, step.collective.to_axes, provider.rank());
      spec.source = peers.source;
      spec.target = peers.target;
    }
    return channel.prepare(spec);
  }
};

Result<StepKernels> StepKernels::create(const Program& program, Device& device,
                                        ChannelProvider& provider,
                                        const std::vector<RegionBody>& regions) {
  StepKernels kernels;
  const Prepare prepare{program, device, provider, regions, kernels};
  for (const ProgramStep& step : program.steps) {
    auto kernel = step.collective.kind == CollectiveKind::kNone ? prepare.compute(step)
                                                                : prepare.collective(step);
    if (!kernel.ok()) {
      Status s = kernel.status();
      return s.at_node(step.node, step.kernel);
    }
    (*kernel)->origin = {step.node == UINT32_MAX ? -1 : int64_t{step.node}, step.kernel};
    kernels.kernels_.push_back(std::move(*kernel));
  }
  return kernels;
}

std::vector<int64_t> StepKernels::workspace_bytes(const Program& program) const {
  std::vector<int64_t> most(num_streams(program));
  for (size_t i = 0; i < kernels_.size(); ++i) {
    int64_t& bytes = most[static_cast<size_t>(program.steps[i].stream)];
    bytes = std::max(bytes, kernels_[i]->workspace_bytes());
  }
  return most;
}

}  // namespace shw::runtime
