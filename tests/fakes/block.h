// A block of threads, as fibers of the calling thread.
#pragma once
#include <functional>

#include "fakes/shim.h"

namespace shw::fakes {

// Calls `kernel` once for each thread of each block. False: threads of a block did not all come to
// the same barrier, which is undefined on a device.
bool run_grid(Coordinates grid, Coordinates block, const std::function<void()>& kernel);

}  // namespace shw::fakes
