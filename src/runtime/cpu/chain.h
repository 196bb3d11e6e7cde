// A kernel made of kernels that run one after another, with temporaries between them.
#pragma once
#include <memory>
#include <vector>

#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

class Chain final : public HostKernel {
 public:
  // `buffers`: of the step, inputs and outputs.
  explicit Chain(size_t buffers) : workspace_(buffers) {}

  // A temporary of that many bytes; gives its number for add(). All before the first add().
  size_t temporary(int64_t bytes);
  // A kernel over inputs and outputs of these numbers: the step's buffers, or temporaries. Takes
  // over what prepare gave.
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
  std::vector<int64_t> temporaries_;  // where they begin in the workspace
  int64_t temporaries_bytes_ = 0, scratch_bytes_ = 0;
  std::vector<Link> links_;
};

}  // namespace shw::runtime::cpu
