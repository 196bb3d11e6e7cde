// What an event is behind its handle. It outlives the executor.
#pragma once
#include "runtime/timeline.h"
#include "shardwise/runtime.h"

struct shw_event {
  shw::runtime::Completion completion;
};
