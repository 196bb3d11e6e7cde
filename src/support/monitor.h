// Progress and cancellation of long work, in one object that is passed down.
//
// The owner sets `on_progress`, `cancel` and `deadline`. The worker calls poll() at least every 10
// ms, and report() when there is progress. Neither may be called by two threads at once.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <string_view>

#include "support/deadline.h"
#include "support/status.h"

namespace shw {

struct Progress {
  std::string_view
      phase;  // "import", "rewrite", "strategies", "price", "solve", "lower", "passes", "write"
  double best_cost_us =
      std::numeric_limits<double>::infinity();  // of the incumbent; infinity: none yet
  double lower_bound_us = -std::numeric_limits<double>::infinity();  // proven
  double elapsed_s = 0;
};

class Monitor {
 public:
  std::function<bool(const Progress&)> on_progress;  // returns true to cancel; may be empty
  const std::atomic<bool>* cancel = nullptr;         // may be null
  Deadline deadline;                                 // for work without a partial result
  // Work that improves a result stops at this time and returns its best result.
  Deadline improve_until;

  // CANCELLED if the flag is raised or a progress callback requested it; DEADLINE_EXCEEDED.
  Status poll() const {
    if (stop_ || (cancel != nullptr && cancel->load(std::memory_order_relaxed)))
      return Status(Code::kCancelled, "cancelled by the caller");
    if (deadline.passed())
      return Status(Code::kDeadlineExceeded, "the time limit passed before there was any plan");
    return {};
  }
  Status report(Progress p) {
    if (on_progress) {
      p.elapsed_s =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
      if (on_progress(p)) stop_ = true;
    }
    return poll();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool stop_ = false;
};

// A copy of `monitor` for work that must return its best result by `deadline`.
inline Monitor improving_until(const Deadline& deadline, const Monitor& monitor) {
  Monitor timed = monitor;
  timed.improve_until = deadline;
  return timed;
}

}  // namespace shw
