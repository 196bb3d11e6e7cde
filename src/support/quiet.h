// A monitor for a sub-problem: it forwards progress and cancellation, but not costs and bounds,
// which the owner would mistake for those of the whole problem.
#pragma once
#include <string_view>

#include "support/monitor.h"

namespace shw {

// The owner must outlive it.
inline Monitor quiet(Monitor& owner, std::string_view phase = "solve") {
  Monitor monitor;
  monitor.cancel = owner.cancel;
  monitor.improve_until = owner.improve_until;
  monitor.on_progress = [&owner, phase](const Progress&) {
    return !owner.report({.phase = phase}).ok();
  };
  return monitor;
}

}  // namespace shw
