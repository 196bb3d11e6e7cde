#include "tools/device_option.h"

#include <vector>

#include "runtime/cuda/cuda.h"

namespace shw::tools {
namespace {

using runtime::Device;

Result<runtime::RankBackend> open_cuda(int64_t first, int64_t count, runtime::Timeout timeout,
                                       const std::string& kernel_cache) {
  std::vector<std::shared_ptr<Device>> devices;
  for (int64_t i = 0; i < count; ++i) {
    SHW_ASSIGN_OR_RETURN(devices.emplace_back(),
                         runtime::cuda::open_device(
                             {.index = static_cast<int>(first + i), .kernel_cache = kernel_cache}));
  }
  return runtime::RankBackend{
      [devices](int64_t rank) { return devices[static_cast<size_t>(rank) % devices.size()]; },
      [timeout](std::unique_ptr<runtime::ChannelProvider> in_host_memory, Device& device) {
        return runtime::cuda::make_channels(device, std::move(in_host_memory), timeout);
      }};
}

}  // namespace

Result<runtime::RankBackend> open_backend(const std::string& name, int64_t first, int64_t count,
                                          runtime::Timeout timeout,
                                          const std::string& kernel_cache) {
  if (name == kCpu) return runtime::RankBackend{};
  if (name == "cuda") return open_cuda(first, count, timeout, kernel_cache);
  return invalid_argument("--device '" + name + "': expected cpu or cuda");
}

}  // namespace shw::tools
