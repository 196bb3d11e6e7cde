// A kernel that runs several kernels one after another, with temporaries between them.
#pragma once
#include <memory>
#include <vector>

#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

class Chain final : public HostKernel {
 public:
  // `buffers`: the number of the step's inputs and outputs.
  explicit Chain(size_t buffers) : workspace_(buffers) {}

  // Adds a temporary of so many bytes and returns its number for add(). Add all temporaries before
  // the first add().
  size_t temporary(int64_t bytes);
  // Adds a kernel. `buffers` are the numbers of its inputs and outputs: buffers of the step, or
  // temporaries. An error of `kernel` is returned.
  Status add(Prepared kernel, const std::vector<size_t>& buffers);

  int64_t workspace_bytes() const override { return temporaries_bytes_ + scratch_bytes_; }
  Status compute(void* const* buffers) override;

 private:
  static constexpr size_t kMaxBuffers = 8;
  struct Link {
    std::unique_ptr<HostKernel> kernel;
    std::vector<size_t> buffers;
  };
  size_t workspace_;  // number of the workspace among the buffers; temporaries are counted from it
  std::vector<int64_t> temporaries_;  // offsets in the workspace
  int64_t temporaries_bytes_ = 0, scratch_bytes_ = 0;
  std::vector<Link> links_;
};

}  // namespace shw::runtime::cpu
