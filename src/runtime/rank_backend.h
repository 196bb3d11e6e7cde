// The backend that the ranks of a job run on.
#pragma once
#include <functional>
#include <memory>

#include "runtime/channel.h"
#include "runtime/hal.h"

namespace shw::runtime {

// If a function is empty, the CPU is used, with channels in host memory.
struct RankBackend {
  std::function<std::shared_ptr<Device>(int64_t rank)> device = {};
  // Makes a rank's channels on its device from its channels in host memory.
  std::function<Result<std::unique_ptr<ChannelProvider>>(
      std::unique_ptr<ChannelProvider> in_host_memory, Device& device)>
      channels = {};

  // A backend for the ranks of one job in this process, with empty functions replaced by those of
  // the CPU. These CPU devices share their threads.
  RankBackend or_cpu() const;
  Result<std::unique_ptr<ChannelProvider>> connect(std::unique_ptr<ChannelProvider> in_host_memory,
                                                   Device& device) const;
};

}  // namespace shw::runtime
