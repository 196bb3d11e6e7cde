// Work that the host does when a stream comes to it.
#pragma once
#include <cstdint>

#include "support/status.h"

namespace shw::runtime {

// Whoever is told that work can go on.
class Waker {
 public:
  // Any thread. Does not wait, and is harmless when there is nothing to go on with.
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
  // Calls nothing of a device, a stream or an event: CUDA allows none of that here. May block only
  // on what ends by itself or by an abort of its channel.
  virtual Status run(void* const* buffers) noexcept = 0;

  // The same for streams that have better to do than to wait. kDone: `result` is what run() would
  // return. kWaits: the work has begun and waits for others. It wakes `waker` once it may go on,
  // and wants to be called again, with the same arguments, until it is done. Calls that find
  // nothing to do are allowed.
  virtual Progress advance(void* const* buffers, Waker& /*waker*/, Status& result) noexcept {
    result = run(buffers);
    return Progress::kDone;
  }
  // Whether advance() may block its thread until other threads have done something.
  virtual bool may_block() const noexcept { return true; }
};

}  // namespace shw::runtime
