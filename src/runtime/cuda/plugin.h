// The interface of libshardwise_cuda.so to libshardwise.so. Devices and channels cross the boundary
// as C++ objects, so both sides must be built alike: `info` describes the plug-in's build
// (runtime/plugin.h).
#pragma once
#include <chrono>
#include <memory>

#include "runtime/channel.h"
#include "runtime/cuda/options.h"
#include "runtime/plugin.h"

extern "C" {

struct shw_cuda_plugin {
  uint32_t version;  // kCudaPluginVersion
  uint32_t size;     // of this struct
  shw::runtime::PluginInfo info;

  // See the functions in cuda.h.
  shw::Result<std::shared_ptr<shw::runtime::Device>> (*open_device)(
      const shw::runtime::cuda::Options& options);
  std::unique_ptr<shw::runtime::ChannelProvider> (*make_channels)(
      shw::runtime::Device& device, std::unique_ptr<shw::runtime::ChannelProvider> control,
      std::chrono::nanoseconds timeout);
};

// The plug-in's one export: its table.
extern const shw_cuda_plugin shw_cuda_plugin_table;
}

namespace shw::runtime::cuda {
inline constexpr uint32_t kCudaPluginVersion = 2;
}
