// A kernel whose work the host does, in memory that the host can read: the CPU backend's kernels,
// the collectives between ranks of one process, and the bodies of manual regions.
#pragma once
#include "runtime/host_work.h"
#include "runtime/kernel.h"

namespace shw::runtime {

class HostKernel : public PreparedKernel, private HostWork {
 public:
  void launch(Stream& stream, void* const* buffers) final;

  // Reads inputs and writes outputs. Allocates nothing unless it fails: it may throw bad_alloc
  // while it describes an error.
  virtual Status compute(void* const* buffers) = 0;

 private:
  Status run(void* const* buffers) noexcept final;
};

}  // namespace shw::runtime
