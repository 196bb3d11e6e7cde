// A monitor for a problem that is solved on the way to another's answer: the owner hears that work
// goes on, and can cancel it, but not a cost or a bound, which would be taken for the answer's.
#pragma once
#include <string_view>

#include "support/monitor.h"

namespace shw {

// The owner must outlive it.
inline Monitor quiet(Monitor& owner, std::string_view phase = "solve") {
  Monitor monitor;
  monitor.cancel = owner.cancel;
  monitor.on_progress = [&owner, phase](const Progress&) {
    return !owner.report({.phase = phase}).ok();
  };
  return monitor;
}

}  // namespace shw
