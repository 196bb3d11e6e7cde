#include "tools/device_option.h"

#include "runtime/cuda/ranks.h"

namespace shw::tools {

Result<runtime::RankBackend> open_backend(const std::string& name, int64_t first, int64_t count,
                                          runtime::Timeout timeout,
                                          const runtime::cuda::Options& cuda) {
  if (name == kCpu) return runtime::RankBackend{};
  if (name == "cuda") return runtime::cuda::open_ranks(first, count, timeout, cuda);
  return invalid_argument("--device '" + name + "': expected cpu or cuda");
}

void add_cuda_options(Verb& verb, runtime::cuda::Options& options) {
  verb.option("--kernel-cache", options.kernel_cache,
              "With --device cuda: a folder where compiled kernels are kept for later runs");
  verb.flag("--deterministic", options.deterministic,
            "With --device cuda: results with the same bits in each run; gradients of attention "
            "take longer");
}

}  // namespace shw::tools
