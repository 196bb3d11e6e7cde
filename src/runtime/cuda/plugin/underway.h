// The collectives of a group that may be under way, oldest first, each with an event behind it on
// its stream.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/cuda/plugin/driver.h"

namespace shw::runtime::cuda {

class Underway {
 public:
  using Clock = std::chrono::steady_clock;

  bool is_empty() const { return count_ == 0; }
  // Not empty: in the log of the rank's collectives, its event, and since when it is the oldest.
  uint64_t oldest() const { return ring_[first_].dispatched; }
  EventHandle event() const { return ring_[first_].event; }
  Clock::time_point since() const { return since_; }

  // The collective that was put on the stream last. Makes an event, and memory, only where more are
  // under way than ever before.
  Status add(const Driver& driver, StreamHandle stream, uint64_t dispatched);
  void remove_oldest();
  void clear() { count_ = 0; }
  void destroy_events(const Driver& driver);

 private:
  struct Collective {
    EventHandle event;
    uint64_t dispatched;
  };
  std::vector<Collective> ring_;
  size_t first_ = 0, count_ = 0;
  Clock::time_point since_;
};

}  // namespace shw::runtime::cuda
