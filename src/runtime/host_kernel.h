// A kernel whose work the host does, in memory that the host can reach: what the CPU backend's
// kernels and the in-process collectives are.
#pragma once
#include "runtime/hal.h"

namespace shw::runtime {

class HostKernel : public PreparedKernel, private HostWork {
 public:
  void launch(Stream& stream, void* const* buffers) final { stream.host(*this, buffers); }

  // Reads inputs and writes outputs; allocates nothing.
  virtual Status compute(void* const* buffers) noexcept = 0;

 private:
  Status run(void* const* buffers) noexcept final {
    Status status = compute(buffers);
    if (!status.ok()) status.at_node(origin.node, origin.kernel);
    return status;
  }
};

}  // namespace shw::runtime
