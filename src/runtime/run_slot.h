// What one run in flight needs of its own. Runs take the slots in turn.
#pragma once
#include <memory>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/entry_graphs.h"
#include "runtime/hal.h"
#include "runtime/timeline.h"

namespace shw::runtime {

class RunMonitor;

// Tells the monitor that a run has come to its end: all that a stream's callback may do.
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
  std::vector<const Event*> last_events;      // once these are reached, nothing of the run is left
  std::vector<BufferRef> buffers;
  std::vector<Completion> dependencies;
  RunSignal signal;
};

}  // namespace shw::runtime
