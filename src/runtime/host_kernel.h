// Kernels that run on the host, in memory that the host can read: the CPU backend's kernels, the
// collectives between ranks of one process, and the bodies of manual regions.
#pragma once
#include "runtime/host_work.h"
#include "runtime/kernel.h"

namespace shw::runtime {
namespace cpu {
class TracedKernel;
}

class HostKernel : public PreparedKernel, private HostWork {
 public:
  void launch(Stream& stream, void* const* buffers) final;

  // Reads inputs and writes outputs. Allocates only if it fails: creating the error's message may
  // throw bad_alloc.
  virtual Status compute(void* const* buffers) = 0;
  // The non-blocking form of compute(), as HostWork::advance() is of HostWork::run(); for kernels
  // that wait for other threads.
  virtual Progress try_compute(void* const* buffers, Waker& /*waker*/, Status& result) {
    result = compute(buffers);
    return Progress::kDone;
  }
  // A symbolic form of the computation, if the kernel has one (cpu/codegen/formula.h); else null.
  virtual const cpu::TracedKernel* traced() const { return nullptr; }
  // Declares that the kernel never waits for other threads, or does so only in try_compute().
  void set_never_blocks() { may_block_ = false; }

 private:
  Status run(void* const* buffers) noexcept final;
  Progress advance(void* const* buffers, Waker& waker, Status& result) noexcept final;
  bool may_block() const noexcept final { return may_block_; }
  // Calls `work`, and adds the node to an error in `result`.
  template <class F>
  void describing(Status& result, F&& work) noexcept;

  bool may_block_ = true;
};

}  // namespace shw::runtime
