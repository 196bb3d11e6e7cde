#include "runtime/cuda/ranks.h"

#include <vector>

#include "runtime/cuda/cuda.h"

namespace shw::runtime::cuda {

Result<RankBackend> open_ranks(int64_t first, int64_t count, Timeout timeout,
                               const Options& options) {
  std::vector<std::shared_ptr<Device>> devices;
  for (int64_t i = 0; i < count; ++i) {
    SHW_ASSIGN_OR_RETURN(devices.emplace_back(),
                         open_device(of_index(options, static_cast<int>(first + i))));
  }
  return RankBackend{
      [devices](int64_t rank) { return devices[static_cast<size_t>(rank) % devices.size()]; },
      [timeout](std::unique_ptr<ChannelProvider> in_host_memory, Device& device) {
        return make_channels(device, std::move(in_host_memory), timeout);
      }};
}

Result<int64_t> num_devices() {
  for (int index = 0;; ++index) {
    const auto device = open_device({.index = index});
    if (!device.ok() && index > 0 && device.status().code() == Code::kInvalidArgument)
      return index;  // there is no device of this number
    SHW_RETURN_IF_ERROR(device.status());
  }
}

}  // namespace shw::runtime::cuda
