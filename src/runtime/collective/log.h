// The collectives that a rank dispatched most recently in a job, for error messages about ranks
// that diverged or did not arrive.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "runtime/channel.h"

namespace shw::runtime {

// The mesh dims of a group, outermost first: "tp", "dp,tp". Zero-terminated; long names are
// truncated.
using GroupName = std::array<char, 32>;
GroupName group_name(const Mesh& mesh, std::span<const uint8_t> axes);

std::string_view collective_name(CollectiveKind kind);  // "all_reduce", "collective_permute"

// One dispatched collective. Groups along different mesh dims run concurrently, so each group
// numbers its own collectives. All members give a collective the same number.
struct CollectiveRecord {
  uint64_t number = 0;  // 1 for the group's first collective
  CollectiveSpec spec;
  int64_t node = -1;  // the graph node that the step implements
  GroupName group{};
};

// "all_reduce(sum)[tp] #17 of f32[1024] for node 12", "all_to_all_v[ep] #2 of bf16 for node 7"
std::string to_string(const CollectiveRecord& record);

// FAILED_PRECONDITION: ranks `from` and `to` disagree on how many elements `from` sends to `to` in
// an all_to_all by counts.
Status counts_differ(const CollectiveRecord& record, int64_t from, int64_t sends, int64_t to,
                     int64_t expects);

// The limit of a wait for other ranks; zero or less: no limit.
using Timeout = std::chrono::nanoseconds;
std::string seconds_text(Timeout timeout);  // "2.5 s"

inline bool same_collective(const CollectiveSpec& a, const CollectiveSpec& b) {
  return a.kind == b.kind && a.op == b.op && a.dtype == b.dtype && a.count == b.count &&
         a.by_counts == b.by_counts;
}

// A ring buffer of fixed size, so that dispatching does not allocate. Any thread.
class CollectiveLog {
 public:
  // Returns the number to pass to finish().
  uint64_t dispatch(const CollectiveRecord& record);
  void finish(uint64_t dispatched);
  void clear();
  // The newest first: "all_reduce(sum)[tp] #17 of f32[4] for node 3 (not finished), all_gather[dp]
  // #9 …".
  std::string to_string(size_t most) const;

 private:
  static constexpr size_t kKept = 16;
  mutable std::mutex mutex_;
  struct Dispatched {
    uint64_t number = 0;  // 1 for the rank's first collective in its job
    CollectiveRecord record;
    bool finished = false;
  };
  std::array<Dispatched, kKept> ring_;  // number n is at n % kKept
  uint64_t last_ = 0;
};

}  // namespace shw::runtime
