// Cancellation and time limit, polled by every long loop of the solver.
//
// Loops report their work in table cells (about a nanosecond each). The cancel flag and the clock
// are read only after enough work has accumulated, so poll() is cheap enough for inner loops. A
// raised flag is an error and propagates; an expired deadline is not: phases return what they have.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "support/deadline.h"
#include "support/monitor.h"
#include "support/parallel.h"
#include "support/status.h"

namespace shw::solver {

class Watch {
 public:
  Watch(Monitor& monitor, const Deadline& deadline, Threads threads = {})
      : monitor_(monitor), deadline_(deadline), threads_(threads) {}

  // For work on another thread, with its own monitor but the same deadline and cancel flag. Raising
  // `stop` cancels that work.
  Watch(Monitor& monitor, const Watch& other, const std::atomic<bool>& stop)
      : monitor_(monitor), deadline_(other.deadline_), stop_(&stop) {
    monitor_.cancel = other.monitor_.cancel;
  }

  Status poll(uint64_t cells) {
    gathered_ += cells;
    if (gathered_ < kCellsPerLook) return {};
    done_ += std::exchange(gathered_, 0);
    return look();
  }
  // Checks at once, for work that is not counted.
  Status look() {
    look_at_clock();
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed))
      return Status(Code::kCancelled, "another thread has failed");
    return monitor_.poll();
  }
  Status report(double best_cost, double bound) {
    look_at_clock();
    if (parts_ == 0) told_ = {"solve", best_cost, bound, 0};
    return monitor_.report(told_);
  }
  // While one exists, a sub-problem is being solved, whose bound is not the whole problem's and is
  // not reported.
  class Part {
   public:
    explicit Part(Watch& watch) : watch_(watch) { ++watch_.parts_; }
    ~Part() { --watch_.parts_; }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    Watch& watch_;
  };
  // While one exists, expired() is true after this much more work, whatever the clock says.
  class WorkLimit {
   public:
    WorkLimit(Watch& watch, uint64_t cells) : watch_(watch), before_(watch.limit_) {
      const uint64_t now = watch_.cells();
      watch_.limit_ = std::min(before_, now + std::min(cells, UINT64_MAX - now));
    }
    ~WorkLimit() { watch_.limit_ = before_; }
    WorkLimit(const WorkLimit&) = delete;
    WorkLimit& operator=(const WorkLimit&) = delete;

   private:
    Watch& watch_;
    const uint64_t before_;
  };
  const Threads& threads() const { return threads_; }  // that work may use, including this one
  bool expired() const { return is_late() || cells() >= limit_; }
  bool is_late() const { return expired_; }             // by the clock
  uint64_t cells() const { return done_ + gathered_; }  // all work so far, independent of the clock

 private:
  static constexpr uint64_t kCellsPerLook = 1 << 19;  // well under a millisecond

  void look_at_clock() { expired_ = expired_ || deadline_.passed(); }

  Monitor& monitor_;
  Progress told_{.phase = "solve"};
  uint32_t parts_ = 0;
  const Deadline deadline_;
  const Threads threads_;
  const std::atomic<bool>* stop_ = nullptr;
  uint64_t gathered_ = 0, done_ = 0, limit_ = UINT64_MAX;
  bool expired_ = false;
};

}  // namespace shw::solver
