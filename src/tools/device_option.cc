#include "tools/device_option.h"

#include "runtime/cuda/ranks.h"

namespace shw::tools {

Result<runtime::RankBackend> open_backend(const std::string& name, int64_t first, int64_t count,
                                          runtime::Timeout timeout,
                                          const std::string& kernel_cache) {
  if (name == kCpu) return runtime::RankBackend{};
  if (name == "cuda") return runtime::cuda::open_ranks(first, count, timeout, kernel_cache);
  return invalid_argument("--device '" + name + "': expected cpu or cuda");
}

}  // namespace shw::tools
