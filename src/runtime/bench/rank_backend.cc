#include "runtime/bench/rank_backend.h"

#include <string>

#include "runtime/null/channel.h"

namespace shw::runtime {
namespace {

// Ranks that compute nothing do not wait for each other either.
RankBackend null_backend() {
  RankBackend backend;
  backend.device = [](int64_t) { return std::make_shared<null::NullDevice>(); };
  backend.channels = [](std::unique_ptr<ChannelProvider> host, Device& device) {
    return null::make_channels(static_cast<null::NullDevice&>(device), host->mesh(), host->rank());
  };
  return backend;
}

}  // namespace

Result<RankBackend> rank_backend(std::string_view device) {
  if (device == "cpu") return RankBackend{};
  if (device == "null") return null_backend();
  // The CUDA backend has run on fakes of NVIDIA's libraries only, whose times mean nothing.
  if (device == "cuda")
    return unimplemented(
        "benchmarks of CUDA devices: this backend has not run on a GPU yet, and no time that fakes "
        "of NVIDIA's libraries take is a performance figure");
  return invalid_argument("device '" + std::string(device) + "': expected cpu or null");
}

}  // namespace shw::runtime
