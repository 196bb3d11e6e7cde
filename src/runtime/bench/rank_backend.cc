#include "runtime/bench/rank_backend.h"

#include "runtime/cuda/ranks.h"
#include "runtime/null/channel.h"
#include "runtime/world/world.h"

namespace shw::runtime {
namespace {

// Ranks that compute nothing do not wait for each other.
RankBackend null_backend() {
  RankBackend backend;
  backend.device = [](int64_t) { return std::make_shared<null::NullDevice>(); };
  backend.channels = [](std::unique_ptr<ChannelProvider> host, Device& device) {
    return null::make_channels(static_cast<null::NullDevice&>(device), host->mesh(), host->rank());
  };
  return backend;
}

// If the machine lacks devices, the message says that the benchmark was not run, not that it
// failed.
Result<RankBackend> cuda_backend(int64_t ranks, const cuda::Options& options) {
  auto backend = cuda::open_ranks(0, ranks, WorldOptions{}.timeout, options);
  if (backend.ok()) return backend;
  const Status& s = backend.status();
  return Status(s.code(), "not run, as each rank needs a device of its own: " + s.message());
}

}  // namespace

Result<RankBackend> rank_backend(std::string_view device, int64_t ranks,
                                 const cuda::Options& options) {
  if (device == "cpu") return RankBackend{};
  if (device == "null") return null_backend();
  if (device == "cuda") return cuda_backend(ranks, options);
  return invalid_argument("device '" + std::string(device) + "': expected cpu, cuda or null");
}

}  // namespace shw::runtime
