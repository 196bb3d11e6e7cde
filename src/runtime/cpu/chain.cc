#include "runtime/cpu/chain.h"

#include <algorithm>

namespace shw::runtime::cpu {

size_t Chain::temporary(int64_t bytes) {
  temporaries_.push_back(temporaries_bytes_);
  temporaries_bytes_ += workspace_aligned(bytes);
  return workspace_ + temporaries_.size() - 1;
}

Status Chain::add(Prepared kernel, const std::vector<size_t>& buffers) {
  SHW_RETURN_IF_ERROR(kernel.status());
  SHW_CHECK(buffers.size() < kMaxBuffers);
  scratch_bytes_ = std::max(scratch_bytes_, (*kernel)->workspace_bytes());
  links_.push_back({std::move(*kernel), buffers});
  return {};
}

Status Chain::compute(void* const* buffers) {
  auto* workspace = static_cast<std::byte*>(buffers[workspace_]);
  for (const Link& link : links_) {
    void* own[kMaxBuffers];
    size_t n = 0;
    for (size_t b : link.buffers)
      own[n++] = b < workspace_ ? buffers[b] : workspace + temporaries_[b - workspace_];
    own[n] = workspace + temporaries_bytes_;
    SHW_RETURN_IF_ERROR(link.kernel->compute(own));
  }
  return {};
}

}  // namespace shw::runtime::cpu
