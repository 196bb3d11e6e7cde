// Work that the host executes as an element of a stream.
#pragma once
#include <cstdint>

#include "support/status.h"

namespace shw::runtime {

// Notified when waiting work can continue.
class Waker {
 public:
  // Any thread. Does not block. A call while no work waits has no effect.
  virtual void wake() noexcept = 0;

 protected:
  ~Waker() = default;
};

enum class Progress : uint8_t { kDone, kWaits };

class HostWork {
 public:
  virtual ~HostWork() = default;
  // `buffers`: as given to Stream::host(). An error poisons the stream (hal.h).
  //
  // Must not call a device, a stream or an event, because CUDA forbids that in host functions. May
  // block only on something that ends by itself, or by an abort of its channel.
  virtual Status run(void* const* buffers) noexcept = 0;

  // A non-blocking form of run(), for streams that interleave other work. kDone: `result` is what
  // run() would return. kWaits: the work has begun and waits for other threads. It calls
  // `waker.wake()` once it can continue; the stream then calls advance() again with the same
  // arguments, until kDone. Spurious calls are allowed.
  virtual Progress advance(void* const* buffers, Waker& /*waker*/, Status& result) noexcept {
    result = run(buffers);
    return Progress::kDone;
  }
  // Whether advance() may block its thread until other threads make progress.
  virtual bool may_block() const noexcept { return true; }
};

}  // namespace shw::runtime
