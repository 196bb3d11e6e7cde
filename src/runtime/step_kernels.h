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

class StepKernels {
 public:
  static Result<StepKernels> create(const Program& program, Device& device,
                                    ChannelProvider& provider,
                                    const std::vector<RegionBody>& regions);

  PreparedKernel& of_step(size_t step) const { return *kernels_[step]; }
  std::vector<int64_t> workspace_bytes(const Program& program) const;  // by stream, the largest

 private:
  struct Prepare;
  std::vector<std::pair<std::vector<uint8_t>, std::unique_ptr<Channel>>> channels_;  // by axes
  std::vector<std::unique_ptr<PreparedKernel>> kernels_;                             // by step
};

}  // namespace shw::runtime
