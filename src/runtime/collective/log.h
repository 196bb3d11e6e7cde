// The last collectives that a rank dispatched in a job, for messages about ranks that diverged or
// do not come.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "runtime/channel.h"

namespace shw::runtime {

// One dispatched collective. Ranks that run the same program number their collectives alike.
struct CollectiveRecord {
  uint64_t number = 0;  // 1 for the first one of the rank in its job
  CollectiveSpec spec;
  int64_t node = -1;  // of the graph, that the step serves
  bool finished = false;
};

// "all_reduce(sum) #17 of f32[1024] for node 12"
std::string to_string(const CollectiveRecord& record);

// How long a wait for other ranks may take; zero or less: for ever.
using Timeout = std::chrono::nanoseconds;
std::string seconds_text(Timeout timeout);  // "2.5 s"

inline bool same_collective(const CollectiveSpec& a, const CollectiveSpec& b) {
  return a.kind == b.kind && a.op == b.op && a.dtype == b.dtype && a.count == b.count;
}

// A ring of fixed size: dispatching allocates nothing. Any thread.
class CollectiveLog {
 public:
  CollectiveRecord dispatch(const CollectiveSpec& spec, int64_t node);
  void finish(uint64_t number);
  void clear();  // numbers begin anew
  // The newest first: "all_reduce(sum) #17 of f32[4] for node 3 (not finished), all_gather #16 …".
  std::string to_string(size_t most) const;

 private:
  static constexpr size_t kKept = 16;
  mutable std::mutex mutex_;
  std::array<CollectiveRecord, kKept> ring_;  // number n is at n % kKept
  uint64_t last_ = 0;
};

}  // namespace shw::runtime
