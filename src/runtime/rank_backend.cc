#include "runtime/rank_backend.h"

#include "runtime/cpu/device.h"

namespace shw::runtime {

std::shared_ptr<Device> RankBackend::open(int64_t rank) const {
  return device ? device(rank) : std::make_shared<cpu::CpuDevice>();
}

Result<std::unique_ptr<ChannelProvider>> RankBackend::connect(
    std::unique_ptr<ChannelProvider> in_host_memory, Device& on) const {
  if (!channels) return in_host_memory;
  return channels(std::move(in_host_memory), on);
}

}  // namespace shw::runtime
