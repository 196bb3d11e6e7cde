// What the ranks of a job run on, where that is not the CPU.
#pragma once
#include <functional>
#include <memory>

#include "runtime/channel.h"
#include "runtime/hal.h"

namespace shw::runtime {

// Empty functions: the CPU, with channels in its memory.
struct RankBackend {
  std::function<std::shared_ptr<Device>(int64_t rank)> device = {};
  // A rank's channels on its device, made of those in host memory.
  std::function<Result<std::unique_ptr<ChannelProvider>>(
      std::unique_ptr<ChannelProvider> in_host_memory, Device& device)>
      channels = {};

  // The same for the ranks of one job in this process, with the CPU in place of what is empty: its
  // devices share their threads.
  RankBackend or_cpu() const;
  Result<std::unique_ptr<ChannelProvider>> connect(std::unique_ptr<ChannelProvider> in_host_memory,
                                                   Device& device) const;
};

}  // namespace shw::runtime
