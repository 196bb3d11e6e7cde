// The kernels of a program's steps on one rank, prepared, and the channels that they communicate
// over.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plan/program.h"
#include "runtime/channel.h"
#include "runtime/hal.h"
#include "runtime/region_group.h"

namespace shw::runtime {

// What is known of a manual region when its body is prepared. The groups themselves, not the span,
// live as long as the kernel.
struct RegionArgs : KernelArgs {
  std::span<RegionGroup* const> groups;  // attribute `groups`, in its order
};

// The body of the manual regions (local_map) of a name: a kernel that the embedding program brings.
struct RegionBody {
  std::string name;
  std::function<Result<std::unique_ptr<PreparedKernel>>(Device&, const RegionArgs&)> prepare;
};

// What is launched at once: a step, or steps of a group, as a kernel of the device
// (Device::prepare_group) or slice by slice (fusion/).
struct StepLaunch {
  std::vector<uint32_t> steps;    // the first is where it stands among the others
  std::vector<ValueId> operands;  // inputs, then outputs
  uint32_t records = kNoEvent;
  std::unique_ptr<PreparedKernel> kernel;

  bool is_in(const ProgramEntry& entry) const {
    return steps[0] >= entry.first_step && steps[0] - entry.first_step < entry.num_steps;
  }
};

class StepKernels {
 public:
  // `fuse`: steps into groups, where the device can.
  static Result<StepKernels> create(const Program& program, Device& device,
                                    ChannelProvider& provider,
                                    const std::vector<RegionBody>& regions, bool fuse = true);

  // Of all entries, each in its order.
  const std::vector<StepLaunch>& launches() const { return launches_; }
  // Of the memory of groups (Program::group_bytes), so much from its beginning is needed. A storage
  // that a launch of several steps has to itself needs none: it is in the slices or the registers
  // of that launch.
  int64_t group_bytes(const Program& program) const;
  std::vector<int64_t> workspace_bytes(const Program& program) const;  // by stream, the largest

 private:
  struct Prepare;
  using Channels = std::vector<std::pair<std::vector<uint8_t>, std::unique_ptr<Channel>>>;
  Channels channels_;  // by axes
  // Of the bodies of regions, which run beside the collectives of the program.
  Channels region_channels_;
  std::vector<std::unique_ptr<RegionGroup>> region_groups_;
  std::vector<StepLaunch> launches_;
};

}  // namespace shw::runtime
