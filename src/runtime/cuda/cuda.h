// CUDA devices, in a plug-in that is opened on demand: libshardwise_cuda.so.
#pragma once
#include <chrono>
#include <memory>

#include "runtime/channel.h"
#include "runtime/cuda/options.h"

namespace shw::runtime::cuda {

// UNAVAILABLE: the plug-in or one of NVIDIA's libraries is missing or too old, or there is no such
// device; says what to do. INVALID_ARGUMENT: the cache is not a folder. FAILED_PRECONDITION: the
// plug-in was built otherwise than this library.
Result<std::shared_ptr<Device>> open_device(const Options& options);

// Whether open_device() made it.
bool is_cuda(const Device& device);

// A rank's channels over NCCL, on such a device. `control` connects the same ranks in host memory:
// over it they find each other, and learn of aborts. `timeout`: of a collective, from its dispatch
// to its end; zero or less: none. The first channel is UNAVAILABLE where NCCL is missing or too
// old.
Result<std::unique_ptr<ChannelProvider>> make_channels(Device& device,
                                                       std::unique_ptr<ChannelProvider> control,
                                                       std::chrono::nanoseconds timeout);

}  // namespace shw::runtime::cuda
