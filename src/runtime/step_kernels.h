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

namespace shw::runtime {

// The body of the manual regions (local_map) of a name: a kernel that the embedding program brings.
struct RegionBody {
  std::string name;
  std::function<Result<std::unique_ptr<PreparedKernel>>(Device&, const KernelArgs&)> prepare;
};

// What is launched at once: a step, or a group of steps that runs slice by slice (fusion/).
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
  // `fuse`: steps into groups, where the device runs slices.
  static Result<StepKernels> create(const Program& program, Device& device,
                                    ChannelProvider& provider,
                                    const std::vector<RegionBody>& regions, bool fuse = true);

  // Of all entries, each in its order.
  const std::vector<StepLaunch>& launches() const { return launches_; }
  std::vector<int64_t> workspace_bytes(const Program& program) const;  // by stream, the largest

 private:
  struct Prepare;
  std::vector<std::pair<std::vector<uint8_t>, std::unique_ptr<Channel>>> channels_;  // by axes
  std::vector<StepLaunch> launches_;
};

}  // namespace shw::runtime
