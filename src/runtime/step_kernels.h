// The prepared kernels of a program's steps on one rank, and the channels over which they
// communicate.
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

// The arguments from which a manual region's body is prepared. The groups live as long as the
// kernel, but the span does not.
struct RegionArgs : KernelArgs {
  std::span<RegionGroup* const> groups;  // attribute `groups`, in its order
};

// The body of all manual regions (local_map) of one name: a kernel that the embedding program
// supplies.
struct RegionBody {
  std::string name;
  std::function<Result<std::unique_ptr<PreparedKernel>>(Device&, const RegionArgs&)> prepare;
};

// One launch: a step, or several steps of a group, either as one kernel of the device
// (Device::prepare_group) or slice by slice (fusion/).
struct StepLaunch {
  // The first one determines the launch's position among the others.
  std::vector<uint32_t> steps;
  std::vector<ValueId> operands;  // inputs, then outputs
  uint32_t records = kNoEvent;
  std::unique_ptr<PreparedKernel> kernel;

  bool is_in(const ProgramEntry& entry) const {
    return steps[0] >= entry.first_step && steps[0] - entry.first_step < entry.num_steps;
  }
};

class StepKernels {
 public:
  // `fuse`: fuse steps into groups if the device can.
  static Result<StepKernels> create(const Program& program, Device& device,
                                    ChannelProvider& provider,
                                    const std::vector<RegionBody>& regions, bool fuse = true);

  // The launches of all entries, in program order within each entry.
  const std::vector<StepLaunch>& launches() const { return launches_; }
  // How much of the memory of groups (Program::group_bytes) is needed, from its beginning. A
  // storage that only one launch of several steps uses needs none: that launch keeps it in slices
  // or registers.
  int64_t group_bytes(const Program& program) const;
  // By stream, the largest of its steps.
  std::vector<int64_t> workspace_bytes(const Program& program) const;

 private:
  struct Prepare;
  using Channels = std::vector<std::pair<std::vector<uint8_t>, std::unique_ptr<Channel>>>;
  Channels channels_;  // by axes
  // The channels of region bodies, separate from those of the program's collectives.
  Channels region_channels_;
  std::vector<std::unique_ptr<RegionGroup>> region_groups_;
  std::vector<StepLaunch> launches_;
};

}  // namespace shw::runtime
