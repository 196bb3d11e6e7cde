// libshardwise_cuda.so: the table of the plug-in.
#include "runtime/cuda/plugin.h"

#include "runtime/cuda/plugin/channel.h"
#include "runtime/cuda/plugin/device.h"

namespace {

using namespace shw;
using namespace shw::runtime;

Result<std::shared_ptr<Device>> open_device(const cuda::Options& options) {
  SHW_ASSIGN_OR_RETURN(auto device, cuda::CudaDevice::open(options));
  return std::shared_ptr<Device>(std::move(device));
}

std::unique_ptr<ChannelProvider> make_channels(Device& device,
                                               std::unique_ptr<ChannelProvider> control,
                                               std::chrono::nanoseconds timeout) {
  return cuda::make_channels(static_cast<cuda::CudaDevice&>(device).context(), std::move(control),
                             timeout);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const shw_cuda_plugin shw_cuda_plugin_table = {cuda::kCudaPluginVersion, sizeof(shw_cuda_plugin),
                                               plugin_info("cuda"), open_device, make_channels};
