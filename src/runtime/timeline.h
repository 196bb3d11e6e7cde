// Which runs of an executor have ended, and with which status. Enqueued runs are numbered 1, 2, …;
// a Completion refers to one of them. A timeline may outlive its executor.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/hal.h"

namespace shw::runtime {

class Timeline {
 public:
  // Run r uses event r modulo the number of events. It begins only after the previous run with that
  // event has ended.
  explicit Timeline(std::vector<std::unique_ptr<Event>> done) : done_(std::move(done)) {}

  size_t depth() const { return done_.size(); }
  Event& done_event(uint64_t run) { return *done_[run % done_.size()]; }
  const DeviceClass& device_class() const { return done_[0]->device_class(); }

  // Calls `told` once, when the run has ended: from finish(), or immediately if it has ended
  // already.
  void tell_end(uint64_t run, std::function<void(Code)> told);

  // Call before a run begins: reserves memory to record its failure, so that finish() does not
  // allocate.
  void expect_run();
  void finish(uint64_t run, Status status) noexcept;  // called in the order of run numbers
  bool finished(uint64_t run) const;
  Code code(uint64_t run) const;    // the run must have finished; does not allocate
  Status wait(uint64_t run) const;  // blocks the host
  // Returns whether it has ended.
  bool wait_for(uint64_t run, std::chrono::nanoseconds limit) const;

 private:
  struct Failure {  // runs first … last ended with `status`
    uint64_t first, last;
    Status status;
  };
  struct Listener {
    uint64_t run;
    std::function<void(Code)> told;
  };
  Status status_locked(uint64_t run) const;
  Code code_locked(uint64_t run) const;

  std::vector<std::unique_ptr<Event>> done_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  uint64_t finished_ = 0;
  std::list<Listener> listeners_;  // of unfinished runs
  std::vector<Failure> failures_;  // ascending; adjacent runs with the same cause are merged
};

// One enqueued run. Copies are cheap; any thread.
class Completion {
 public:
  Completion() = default;  // refers to no run; always ready
  Completion(std::shared_ptr<Timeline> timeline, uint64_t run)
      : timeline_(std::move(timeline)), run_(run) {}
  bool ready() const { return timeline_ == nullptr || timeline_->finished(run_); }
  // Blocks until the run has ended, with or without an error. Returns whether it has ended.
  bool wait_for(std::chrono::nanoseconds limit) const {
    return timeline_ == nullptr || timeline_->wait_for(run_, limit);
  }
  Status wait() const { return timeline_ == nullptr ? Status() : timeline_->wait(run_); }
  // Call once ready() is true.
  Code code() const { return timeline_ == nullptr ? Code::kOk : timeline_->code(run_); }

  const std::shared_ptr<Timeline>& timeline() const { return timeline_; }
  uint64_t run() const { return run_; }

 private:
  std::shared_ptr<Timeline> timeline_;
  uint64_t run_ = 0;
};

}  // namespace shw::runtime
