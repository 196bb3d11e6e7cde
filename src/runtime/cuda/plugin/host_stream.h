// Runs the host work of a kernel immediately, on the calling thread. Used to exchange the ids of
// communicators.
#pragma once
#include "runtime/hal.h"

namespace shw::runtime::cuda {

class HostStream final : public Stream {
 public:
  Status result;
  void host(HostWork& work, void* const* buffers) override { result = work.run(buffers); }

  // A collective in host memory consists only of host work.
  void record(Event&) override { refuse(); }
  void wait(const Event&) override { refuse(); }
  void copy(void*, const void*, int64_t, CopyKind) override { refuse(); }
  void fill(void*, std::byte, int64_t) override { refuse(); }
  Result<void*> allocate(const MemorySpec&) override {
    return internal_error("a collective in host memory allocated device memory");
  }
  void free(void*, const MemorySpec&) override { refuse(); }
  void flush() override {}
  Status synchronize() override { return result; }
  Status status() const override { return result; }

 private:
  void refuse() { result = internal_error("a collective in host memory used its stream"); }
};

}  // namespace shw::runtime::cuda
