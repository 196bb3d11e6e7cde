// Uses fake devices as the ranks of a job.
#pragma once
#include <chrono>

#include "runtime/cuda/plugin/channel.h"
#include "runtime/cuda/plugin/device.h"
#include "runtime/rank_backend.h"

namespace shw::testing {

// Each rank opens its own device. Opening must not fail.
inline runtime::RankBackend fake_ranks(runtime::Timeout timeout = std::chrono::minutes(1)) {
  using runtime::cuda::CudaDevice;
  return {[](int64_t rank) -> std::shared_ptr<runtime::Device> {
            return *CudaDevice::open({.index = static_cast<int>(rank), .folder = SHW_FAKES});
          },
          [timeout](std::unique_ptr<runtime::ChannelProvider> control, runtime::Device& device) {
            return runtime::cuda::make_channels(static_cast<CudaDevice&>(device).context(),
                                                std::move(control), timeout);
          }};
}

// Opens the devices in this call, so that a failure is returned as a status.
inline Result<runtime::RankBackend> open_fakes(int num_ranks,
                                               runtime::Timeout timeout = std::chrono::minutes(1)) {
  using runtime::cuda::CudaDevice;
  std::vector<std::shared_ptr<CudaDevice>> devices(static_cast<size_t>(num_ranks));
  for (int r = 0; r < num_ranks; ++r) {
    SHW_ASSIGN_OR_RETURN(devices[static_cast<size_t>(r)],
                         CudaDevice::open({.index = r, .folder = SHW_FAKES}));
  }
  runtime::RankBackend backend = fake_ranks(timeout);
  backend.device = [devices](int64_t rank) { return devices[static_cast<size_t>(rank)]; };
  return backend;
}

}  // namespace shw::testing
