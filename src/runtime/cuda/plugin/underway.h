// The collectives of a group that may still be running, oldest first. Each is followed by an event
// on its stream or, in a graph, by a kernel that counts (kernels/progress.cuh).
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/collective/log.h"
#include "runtime/cuda/plugin/driver.h"

namespace shw::runtime::cuda {

class Underway {
 public:
  using Clock = std::chrono::steady_clock;

  bool is_empty() const { return count_ == 0; }
  // When the oldest collective became the oldest.
  Clock::time_point since() const { return since_; }
  // Whether the oldest collective has ended. `counted`: the number of collectives in graphs that
  // have ended.
  bool is_oldest_over(const Driver& driver, uint32_t counted) const;

  // Adds the collective that was enqueued last and is in the log. Creates an event, and allocates,
  // only if more collectives are running than ever before.
  Status add(const Driver& driver, StreamHandle stream, uint64_t dispatched);
  // Adds a collective of a launched graph. A graph may have more collectives than the log can hold,
  // so each is logged only when those before it have ended.
  void add_in_graph(const CollectiveRecord& record);
  void log_oldest(CollectiveLog& log);
  void remove_oldest(CollectiveLog& log);
  // Call when nothing is running. `counted`: the count to continue from.
  void clear(uint32_t counted);
  void destroy_events(const Driver& driver);

 private:
  struct Collective {
    EventHandle event = nullptr;  // created on demand
    bool is_in_graph = false;
    uint32_t count = 0;       // in a graph: it has ended at this count
    uint64_t dispatched = 0;  // number in the log; 0: not logged yet
    CollectiveRecord record = {};
  };
  Collective& next();  // the free place after the newest
  void added();

  std::vector<Collective> ring_;
  size_t first_ = 0, count_ = 0;
  uint32_t launched_ = 0;  // launched in graphs; wraps around like the count
  Clock::time_point since_;
};

}  // namespace shw::runtime::cuda
