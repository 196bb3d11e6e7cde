// A point in time at which long work must end. The entry point of a call sets it once and passes it
// down, so that all parts of the call share one limit.
#pragma once
#include <algorithm>
#include <chrono>
#include <limits>

namespace shw {

class Deadline {
 public:
  Deadline() = default;  // never
  // 0: never.
  static Deadline in(double seconds) {
    return seconds > 0 ? Deadline().or_in(seconds) : Deadline();
  }

  bool is_set() const { return at_ != Clock::time_point::max(); }
  bool passed() const { return is_set() && Clock::now() >= at_; }
  double left_s() const {  // infinity: never; at least 0
    if (!is_set()) return std::numeric_limits<double>::infinity();
    return std::max(0.0, std::chrono::duration<double>(at_ - Clock::now()).count());
  }
  // The earlier of this deadline and one that many seconds from now.
  Deadline or_in(double seconds) const {
    constexpr double kForever = 1e9;
    if (!(seconds < kForever)) return *this;
    Deadline sooner;
    sooner.at_ = std::min(at_, Clock::now() + duration(std::max(0.0, seconds)));
    return sooner;
  }
  // The point at which this share of the remaining time has passed; never, if there is no deadline.
  Deadline after_share(double share) const { return is_set() ? or_in(share * left_s()) : *this; }
  Deadline sooner_by(double seconds) const {
    Deadline sooner = *this;
    if (is_set()) sooner.at_ -= duration(seconds);
    return sooner;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static Clock::duration duration(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  Clock::time_point at_ = Clock::time_point::max();
};

}  // namespace shw
