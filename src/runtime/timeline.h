// What an executor has finished, and how: enqueued runs are numbered 1, 2, …; a Completion names
// one of them. Outlives the executor.
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
  // Run r uses event r modulo their number, and runs only after the run that used it before.
  explicit Timeline(std::vector<std::unique_ptr<Event>> done) : done_(std::move(done)) {}

  size_t depth() const { return done_.size(); }
  Event& done_event(uint64_t run) { return *done_[run % done_.size()]; }
  const DeviceClass& device_class() const { return done_[0]->device_class(); }

  // Calls `told` once, when the run has ended: from finish(), or at once if it has.
  void tell_end(uint64_t run, std::function<void(Code)> told);

  // Before a run begins: makes room for its failure, so that finish() allocates nothing.
  void expect_run();
  void finish(uint64_t run, Status status) noexcept;  // in order
  bool finished(uint64_t run) const;
  Code code(uint64_t run) const;    // of a run that has finished; allocates nothing
  Status wait(uint64_t run) const;  // blocks the host
  bool wait_for(uint64_t run, std::chrono::nanoseconds limit) const;  // whether it has ended

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
  std::vector<Failure> failures_;  // ascending; neighbours with the same cause are one
};

// One enqueued run. Copies are cheap; any thread.
class Completion {
 public:
  Completion() = default;  // of nothing: done from the start
  Completion(std::shared_ptr<Timeline> timeline, uint64_t run)
      : timeline_(std::move(timeline)), run_(run) {}
  bool ready() const { return timeline_ == nullptr || timeline_->finished(run_); }
  // Blocks until the run has ended, well or not.
  bool wait_for(std::chrono::nanoseconds limit) const {  // whether it has ended
    return timeline_ == nullptr || timeline_->wait_for(run_, limit);
  }
  Status wait() const { return timeline_ == nullptr ? Status() : timeline_->wait(run_); }
  // Once it is ready.
  Code code() const { return timeline_ == nullptr ? Code::kOk : timeline_->code(run_); }

  const std::shared_ptr<Timeline>& timeline() const { return timeline_; }
  uint64_t run() const { return run_; }

 private:
  std::shared_ptr<Timeline> timeline_;
  uint64_t run_ = 0;
};

}  // namespace shw::runtime
