// A block of threads, as fibers of the calling thread.
#pragma once
#include <cstddef>
#include <functional>

#include "fakes/shim.h"

namespace shw::fakes {

// Calls `kernel` once for each thread of each block. False: threads of a block, or of a warp, did
// not all come to the same barrier, which is undefined on a device.
bool run_grid(Coordinates grid, Coordinates block, const std::function<void()>& kernel);

inline constexpr unsigned kWarp = 32;
// The most that a thread shows the others of its warp.
struct Shown {
  alignas(16) std::byte bytes[32];
};
// Waits until all threads of the caller's warp have come here with something to show, and gives
// what each lane of the warp showed, until the next but one call.
const Shown* exchange(const void* mine, size_t size);

// Copies that a thread has begun are not seen before it has finished them.
void copy_later(void* to, const void* from, size_t size);  // from null: zeros
void finish_copies_of_thread();

}  // namespace shw::fakes
