// What every long loop of the solver asks: was the solve cancelled, is its time up?
//
// Loops report the work they did, in table cells (about a nanosecond each); the caller's flag and
// the clock are read once enough has gathered, so poll() may stand in inner loops. A raised flag is
// an error that travels up; a spent time limit is not: the phases return what they have.
#pragma once
#include <chrono>
#include <cstdint>

#include "support/monitor.h"
#include "support/status.h"

namespace shw::solver {

class Watch {
 public:
  Watch(Monitor& monitor, double time_limit_s) : monitor_(monitor) {
    if (time_limit_s > 0) {
      limited_ = true;
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(time_limit_s));
    }
  }

  // For another thread, with a monitor of its own: the same time limit.
  Watch(Monitor& monitor, const Watch& other)
      : monitor_(monitor), deadline_(other.deadline_), limited_(other.limited_) {}

  Status poll(uint64_t cells) {
    gathered_ += cells;
    if (gathered_ < kCellsPerLook) return {};
    gathered_ = 0;
    look_at_clock();
    return monitor_.poll();
  }
  Status report(double best_cost, double bound) {
    look_at_clock();
    if (parts_ == 0) told_ = {"solve", best_cost, bound, 0};
    return monitor_.report(told_);
  }
  // While one lives, a part of the problem is solved: its bound is none of the whole, and not told.
  class Part {
   public:
    explicit Part(Watch& watch) : watch_(watch) { ++watch_.parts_; }
    ~Part() { --watch_.parts_; }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    Watch& watch_;
  };
  bool expired() const { return expired_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t kCellsPerLook = 1 << 19;  // well under a millisecond

  void look_at_clock() { expired_ = expired_ || (limited_ && Clock::now() >= deadline_); }

  Monitor& monitor_;
  Progress told_{.phase = "solve"};
  uint32_t parts_ = 0;
  Clock::time_point deadline_;
  uint64_t gathered_ = 0;
  bool limited_ = false;
  bool expired_ = false;
};

}  // namespace shw::solver
