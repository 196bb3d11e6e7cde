// The collectives of a group that may be under way, oldest first. Behind each is an event on its
// stream or, in a graph, a kernel that counts (kernels/progress.cuh).
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
  // Since when it is the oldest.
  Clock::time_point since() const { return since_; }
  // Whether the oldest is over. `counted`: the collectives in graphs that have ended.
  bool is_oldest_over(const Driver& driver, uint32_t counted) const;

  // The collective that was put on the stream last, and is in the log. Makes an event, and memory,
  // only where more are under way than ever before.
  Status add(const Driver& driver, StreamHandle stream, uint64_t dispatched);
  // One of a graph that was launched. A graph may have more of them than the log has room for, so
  // each is logged when those before it have ended.
  void add_in_graph(const CollectiveRecord& record);
  void log_oldest(CollectiveLog& log);
  void remove_oldest(CollectiveLog& log);
  // `counted`: where counting goes on, as nothing runs any more.
  void clear(uint32_t counted);
  void destroy_events(const Driver& driver);

 private:
  struct Collective {
    EventHandle event = nullptr;  // made when it is needed
    bool is_in_graph = false;
    uint32_t count = 0;       // in a graph: over when so many have been counted
    uint64_t dispatched = 0;  // in the log; 0: not yet
    CollectiveRecord record = {};
  };
  Collective& next();  // behind the newest
  void added();

  std::vector<Collective> ring_;
  size_t first_ = 0, count_ = 0;
  uint32_t launched_ = 0;  // in graphs; wraps, as the count does
  Clock::time_point since_;
};

}  // namespace shw::runtime::cuda
