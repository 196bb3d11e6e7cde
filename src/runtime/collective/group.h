// A group of ranks in one process at work: how members meet, share the work out, and part.
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

// What a member brings to a meeting.
struct Contribution {
  CollectiveRecord record;
  ReduceFn reduce = nullptr;
  const void* input = nullptr;
  void* output = nullptr;
  const int64_t* send_offsets = nullptr;  // by counts (channel.h)
  const int64_t* receive_offsets = nullptr;
};

// Who a member is, for messages.
struct GroupMember {
  int64_t rank;
  std::shared_ptr<const CollectiveLog> log;
};

// Members arrive and wait; the last one opens the work, which is cut into pieces that whoever has a
// thread takes; the piece that ends last wakes everybody. Little work is done by the last one
// alone, so that each member waits once. Cores, not ranks, bound how many are woken to help.
class Group {
 public:
  Group(std::vector<GroupMember> who, Timeout timeout);
  int64_t size() const { return static_cast<int64_t>(members_.size()); }

  // Arrives at a meeting. kDone: all have met, and the work is done, or it was aborted; `result`
  // says which. kWaits: `waker` will be woken, and go_on() says then what has become of it. Once
  // all have met the work is finished even after an abort: others read this member's memory.
  Progress arrive(int64_t member, const Contribution& contribution, Waker& waker, Status& result);
  Progress go_on(int64_t member, Status& result);
  // The same on a thread that blocks.
  Status meet(int64_t member, const Contribution& contribution);
  void abort(const Status& cause);
  // When this member has waited too long for another one, the group is aborted, and go_on() gives
  // DEADLINE_EXCEEDED with who has not come.
  void look_at_the_clock(int64_t member);

 private:
  struct Pieces {
    int64_t per_block = 0;     // pieces that one block is cut into
    int64_t blocks = 0;        // blocks that are worked on one by one
    int64_t elements = 0;      // of a piece; the last one of a block may be smaller
    bool past_caches = false;  // results are larger than these
    int64_t count() const { return per_block * blocks; }
  };

  struct Place {
    uint64_t came_to = 0;  // the last meeting
    std::chrono::steady_clock::time_point came_at{};
    Waker* waker = nullptr;  // while the member waits
    Status late;             // OK: nobody is
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
  int64_t cut();  // the work into pieces; returns how many bytes it moves
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
