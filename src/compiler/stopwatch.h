// Names and times the phases of a compilation.
#pragma once
#include <chrono>
#include <string_view>
#include <vector>

#include "support/monitor.h"

namespace shw {

struct PhaseTime {
  std::string_view name;  // "load", "rewrite", "strategies", "price", "solve", "lower",
                          // "passes", "write"
  double seconds;
};

// Consecutive phases; each ends where the next one begins.
class Stopwatch {
 public:
  Stopwatch(std::vector<PhaseTime>& phases, Monitor& monitor)
      : phases_(phases), monitor_(monitor) {}
  Status next(std::string_view name) {
    stop();
    name_ = name;
    start_ = std::chrono::steady_clock::now();
    return monitor_.report({.phase = name});
  }
  void stop() {
    if (!name_.empty())
      phases_.push_back(
          {name_,
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count()});
    name_ = {};
  }

 private:
  std::vector<PhaseTime>& phases_;
  Monitor& monitor_;
  std::string_view name_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace shw
