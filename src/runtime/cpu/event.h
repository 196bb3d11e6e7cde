// Events of the CPU backend: a counter of records, and the threads and streams that wait for it to
// advance.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "runtime/hal.h"

namespace shw::runtime::cpu {

class CpuEvent final : public Event {
 public:
  explicit CpuEvent(const EventOptions& options);

  bool query() const override { return done(last_record()); }
  bool wait_for(std::chrono::nanoseconds limit) const override;
  Result<std::chrono::nanoseconds> time_since(const Event& earlier) const override;

  // Called on the thread that enqueues. Returns the number of the record that later waits refer to.
  uint64_t next_record() { return recorded_.fetch_add(1, std::memory_order_relaxed) + 1; }
  uint64_t last_record() const { return recorded_.load(std::memory_order_relaxed); }

  // A stream that waits for a record.
  struct Waiter {
    Waker* waker = nullptr;
    uint64_t record = 0;
    Waiter* next = nullptr;
  };

  // Called by streams.
  bool done(uint64_t record) const { return completed_.load(std::memory_order_seq_cst) >= record; }
  void complete(uint64_t record);
  // Wakes `waiter` once its record is done. False: it is done already.
  bool add(Waiter& waiter) const;
  void remove(const Waiter& waiter) const;  // valid whether or not it was woken
  // Blocks the thread.
  void await(uint64_t record) const;

 private:
  // Null when the event is of another backend.
  static const CpuEvent* cast(const Event& event);
  friend class CpuStream;
  void tell() const;

  const bool timing_;
  std::atomic<uint64_t> recorded_{0}, completed_{0};
  std::atomic<int64_t> reached_at_ns_{0};  // time of the latest complete()
  mutable std::atomic<int> waiting_{0};    // number of waiting threads and streams
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;  // wakes waiting threads
  mutable Waiter* streams_ = nullptr;
};

}  // namespace shw::runtime::cpu
