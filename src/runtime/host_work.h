// Work that the host does when a stream comes to it.
#pragma once
#include "support/status.h"

namespace shw::runtime {

class HostWork {
 public:
  virtual ~HostWork() = default;
  // `buffers`: as given to Stream::host(). An error poisons the stream (hal.h).
  //
  // Calls nothing of a device, a stream or an event: CUDA allows none of that here. May block only
  // on what ends by itself or by an abort of its channel.
  virtual Status run(void* const* buffers) noexcept = 0;
};

}  // namespace shw::runtime
