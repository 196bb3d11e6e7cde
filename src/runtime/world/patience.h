// Tracks how long a wait for other ranks may still last. Shortly before the time-out it asks the
// other ranks what they are doing, so that the error of the time-out can report their answers.
#pragma once
#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "runtime/world/message_job.h"

namespace shw::runtime {

class Patience {
 public:
  Patience(MessageWorldLinks& world, uint64_t job) : world_(world), job_(job) { begin(); }

  void begin() {
    began_ = Clock::now();
    question_ = 0;
  }
  // Whether the wait that began last has reached the world's time-out.
  bool is_over() {
    const Timeout timeout = world_.timeout();
    if (timeout <= Timeout::zero()) return false;
    const Timeout lead = std::min<Timeout>(std::chrono::seconds(1), timeout / 2);
    const Timeout waited = Clock::now() - began_;
    if (question_ == 0 && waited >= timeout - lead) question_ = world_.ask(job_);
    return waited >= timeout;
  }
  // What the ranks that answered dispatched last.
  std::map<int64_t, std::string> answers() { return world_.answers(question_, {}); }

 private:
  using Clock = std::chrono::steady_clock;
  MessageWorldLinks& world_;
  const uint64_t job_;
  Clock::time_point began_;
  uint32_t question_ = 0;
};

}  // namespace shw::runtime
