// The object behind a cancel-flag handle.
#pragma once
#include <atomic>

#include "shardwise/shardwise.h"

struct shw_cancel {
  std::atomic<bool> raised{false};
  static_assert(std::atomic<bool>::is_always_lock_free, "raised from signal handlers");
};
