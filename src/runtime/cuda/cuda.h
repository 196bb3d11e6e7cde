// CUDA devices, in a plug-in that is loaded on demand: libshardwise_cuda.so.
#pragma once
#include <chrono>
#include <memory>

#include "runtime/channel.h"
#include "runtime/cuda/options.h"

namespace shw::runtime::cuda {

// UNAVAILABLE: the plug-in or one of NVIDIA's libraries is missing or too old, or the device does
// not exist; the message says what to do. INVALID_ARGUMENT: the cache path is not a folder.
// FAILED_PRECONDITION: plug-in and library were built differently.
Result<std::shared_ptr<Device>> open_device(const Options& options);

// Whether open_device() created the device.
bool is_cuda(const Device& device);

// A rank's channels over NCCL, on a CUDA device. `control` connects the same ranks in host memory.
// The ranks use it to find each other and to pass on aborts. `timeout`: for a collective, from its
// dispatch to its end; zero or less: no limit. Creating the first channel fails with UNAVAILABLE if
// NCCL is missing or too old.
Result<std::unique_ptr<ChannelProvider>> make_channels(Device& device,
                                                       std::unique_ptr<ChannelProvider> control,
                                                       std::chrono::nanoseconds timeout);

}  // namespace shw::runtime::cuda
