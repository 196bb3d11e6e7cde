// Runs a block of device threads as fibers of the calling host thread.
#pragma once
#include <cstddef>
#include <functional>

#include "fakes/shim.h"

namespace shw::fakes {

// Calls `kernel` once for each thread of each block. Returns false if the threads of a block, or of
// a warp, did not all reach the same barrier, which is undefined behaviour on a device.
bool run_grid(Coordinates grid, Coordinates block, const std::function<void()>& kernel);

inline constexpr unsigned kWarp = 32;
// The largest value that a thread passes to the other threads of its warp in exchange().
struct Shown {
  alignas(16) std::byte bytes[32];
};
// Waits until all threads of the caller's warp have called it, and returns the values of all lanes.
// The result is valid until the warp's next call but one.
const Shown* exchange(const void* mine, size_t size);

// Copies that a thread has begun become visible only when that thread finishes them.
void copy_later(void* to, const void* from, size_t size);  // from null: writes zeros
void finish_copies_of_thread();

}  // namespace shw::fakes
