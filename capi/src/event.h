// The object behind an event handle. It may outlive the executor.
#pragma once
#include "runtime/timeline.h"
#include "shardwise/runtime.h"

struct shw_event {
  shw::runtime::Completion completion;
};
