#include "runtime/cuda/cuda.h"

#include "runtime/cuda/plugin.h"
#include "support/open_plugin.h"

namespace shw::runtime::cuda {
namespace {

constexpr PluginKind kPlugin = {"CUDA",
                                "libshardwise_cuda.so",
                                "shw_cuda_plugin_table",
                                "with this library",
                                kCudaPluginVersion,
                                sizeof(shw_cuda_plugin)};

Result<const shw_cuda_plugin*> plugin() {
  SHW_ASSIGN_OR_RETURN(const void* table, open_plugin(kPlugin, {}));
  const auto* plugin = static_cast<const shw_cuda_plugin*>(table);
  SHW_RETURN_IF_ERROR(check_plugin(plugin->info));
  return plugin;
}

}  // namespace

Result<std::shared_ptr<Device>> open_device(const Options& options) {
  SHW_ASSIGN_OR_RETURN(const shw_cuda_plugin* cuda, plugin());
  return cuda->open_device(options);
}

// check_plugin() ensures that only one plug-in has this name.
bool is_cuda(const Device& device) { return device.device_class().name == "cuda"; }

Result<std::unique_ptr<ChannelProvider>> make_channels(Device& device,
                                                       std::unique_ptr<ChannelProvider> control,
                                                       std::chrono::nanoseconds timeout) {
  SHW_ASSIGN_OR_RETURN(const shw_cuda_plugin* cuda, plugin());
  return cuda->make_channels(device, std::move(control), timeout);
}

}  // namespace shw::runtime::cuda
