// Puts a run of each rank of this process on its device.
#pragma once
#include <functional>

#include "runtime/hal.h"

namespace shw::runtime {

// Calls `enqueue(rank)` for each of them, and returns the first error that it gives. On devices
// with memory of their own, each rank has a thread for the call: a collective's first launch may
// wait there until the other ranks have launched theirs, as NCCL connects ranks only then. On
// others the ranks follow one another, until one fails.
Status on_each_rank(int64_t ranks, const Device& device,
                    const std::function<Status(int64_t rank)>& enqueue);

}  // namespace shw::runtime
