// A kernel whose work the host does, in memory that the host can read: the CPU backend's kernels,
// the collectives between ranks of one process, and the bodies of manual regions.
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

  // Reads inputs and writes outputs. Allocates nothing unless it fails: it may throw bad_alloc
  // while it describes an error.
  virtual Status compute(void* const* buffers) = 0;
  // The same as HostWork::advance() is to run(), for kernels that wait for others.
  virtual Progress try_compute(void* const* buffers, Waker& /*waker*/, Status& result) {
    result = compute(buffers);
    return Progress::kDone;
  }
  // How its results are computed, where a kernel can say so (cpu/codegen/formula.h); null: it
  // cannot.
  virtual const cpu::TracedKernel* traced() const { return nullptr; }
  // Said of a kernel that waits for nobody, or only by try_compute().
  void set_never_blocks() { may_block_ = false; }

 private:
  Status run(void* const* buffers) noexcept final;
  Progress advance(void* const* buffers, Waker& waker, Status& result) noexcept final;
  bool may_block() const noexcept final { return may_block_; }
  // Calls `work`, and says of an error in `result` at which node it is.
  template <class F>
  void describing(Status& result, F&& work) noexcept;

  bool may_block_ = true;
};

}  // namespace shw::runtime
