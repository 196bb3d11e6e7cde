// Enqueues a run on every rank of this process.
#pragma once
#include <functional>

#include "runtime/hal.h"

namespace shw::runtime {

// Calls `enqueue(rank)` for every rank and returns the first error. If devices have their own
// memory, each rank gets a thread for the call, because a collective's first launch may block until
// the other ranks have launched theirs: NCCL connects ranks only then. Otherwise the ranks are
// called one after another, until one fails.
Status on_each_rank(int64_t ranks, const Device& device,
                    const std::function<Status(int64_t rank)>& enqueue);

}  // namespace shw::runtime
