// How the members of a group of ranks in one process meet, share the work of a collective, and
// leave.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/channel.h"
#include "runtime/collective/log.h"
#include "runtime/collective/reduce.h"

namespace shw::runtime {

// What a member contributes to a meeting.
struct Contribution {
  CollectiveRecord record;
  ReduceFn reduce = nullptr;
  const void* input = nullptr;
  void* output = nullptr;
  const int64_t* send_offsets = nullptr;  // by counts (channel.h)
  const int64_t* receive_offsets = nullptr;
};

// Identifies a member in error messages.
struct GroupMember {
  int64_t rank;
  std::shared_ptr<const CollectiveLog> log;
};

// Members arrive and wait. The last one to arrive starts the work. The work is divided into pieces,
// which any thread that is available takes. The thread that finishes the last piece wakes all
// members. A small amount of work is done by the last member alone, so that each member waits only
// once. The number of threads that are woken to help is bounded by the number of cores, not of
// ranks.
class Group {
 public:
  Group(std::vector<GroupMember> who, Timeout timeout);
  int64_t size() const { return static_cast<int64_t>(members_.size()); }

  // Arrives at a meeting. kDone: all members have arrived and the work is done, or the meeting was
  // aborted; `result` says which. kWaits: `waker` will be woken, and go_on() then returns the
  // outcome. Once all members have arrived, the work is finished even after an abort, because
  // others read this member's memory.
  Progress arrive(int64_t member, const Contribution& contribution, Waker& waker, Status& result);
  Progress go_on(int64_t member, Status& result);
  // arrive() and go_on() for a thread that may block.
  Status meet(int64_t member, const Contribution& contribution);
  void abort(const Status& cause);
  // If this member has waited longer than the time-out, aborts the group; go_on() then gives
  // DEADLINE_EXCEEDED and names the members that have not arrived.
  void look_at_the_clock(int64_t member);

 private:
  struct Pieces {
    int64_t per_block = 0;     // pieces per block
    int64_t blocks = 0;        // blocks that are processed one by one
    int64_t elements = 0;      // elements per piece; the last piece of a block may be smaller
    bool past_caches = false;  // results are larger than the caches (past_caches.h)
    int64_t count() const { return per_block * blocks; }
  };

  struct Place {
    uint64_t came_to = 0;  // the last meeting that the member arrived at
    std::chrono::steady_clock::time_point came_at{};
    Waker* waker = nullptr;  // while the member waits
    Status late;             // error if another member is late
  };

  Status check_agreement() const;
  Status check_counts() const;
  // Under mutex_:
  Status nobody_came(int64_t member) const;
  void abort_locked(const Status& cause);
  Progress leave(Place& place, Status verdict, Status& result);
  void open(int64_t member);
  void finish();
  void wake_all() const;
  int64_t cut();  // divides the work into pieces; returns how many bytes it moves
  void work();
  void do_piece(int64_t piece);
  void deliver(size_t to, int64_t first, int64_t end) const;
  void copy(std::byte* to, const std::byte* from, int64_t bytes) const;
  void copy_to_all(int64_t offset, const std::byte* from, int64_t bytes) const;

  std::mutex mutex_;
  const std::vector<GroupMember> who_;
  const Timeout timeout_;
  std::vector<Contribution> members_;
  std::vector<Place> places_;        // by member
  std::vector<const void*> inputs_;  // of members_, as ReduceBlock wants them
  std::vector<void*> outputs_;
  int64_t arrived_ = 0;
  uint64_t opened_ = 0, finished_ = 0;  // meetings so far
  Status verdict_;                      // of the last meeting
  Status abort_cause_;

  Pieces pieces_;
  std::atomic<int64_t> next_piece_{0}, pieces_left_{0};
};

}  // namespace shw::runtime
