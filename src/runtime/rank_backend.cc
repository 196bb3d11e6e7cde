#include "runtime/rank_backend.h"

#include "runtime/cpu/device.h"

namespace shw::runtime {

RankBackend RankBackend::or_cpu() const {
  RankBackend filled = *this;
  if (!filled.device)
    filled.device = [workers = cpu::make_workers()](int64_t) {
      return std::make_shared<cpu::CpuDevice>(nullptr, workers);
    };
  return filled;
}

Result<std::unique_ptr<ChannelProvider>> RankBackend::connect(
    std::unique_ptr<ChannelProvider> in_host_memory, Device& on) const {
  if (!channels) return in_host_memory;
  return channels(std::move(in_host_memory), on);
}

}  // namespace shw::runtime
