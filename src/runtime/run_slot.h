// The data of one run in flight. Runs use the slots in turn.
#pragma once
#include <memory>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/entry_graphs.h"
#include "runtime/hal.h"
#include "runtime/timeline.h"

namespace shw::runtime {

class RunMonitor;

// Notifies the monitor that a run has reached its end. A stream's callback may do no more than
// this.
class RunSignal final : public HostWork {
 public:
  Status run(void* const*) noexcept override;
  RunMonitor* monitor = nullptr;
  uint64_t number = 0;
};

struct RunSlot {
  std::vector<std::vector<void*>> pointers;   // by entry
  std::vector<EntryGraphs> graphs;            // by entry
  std::vector<std::unique_ptr<Event>> ended;  // by stream; null for stream 0 and unused ones
  std::vector<const Event*> last_events;      // once these are reached, the run has left the device
  std::vector<BufferRef> buffers;
  std::vector<Completion> dependencies;
  RunSignal signal;
};

}  // namespace shw::runtime
