// Copies whose results go to memory without passing through the caches.
//
// An ordinary store first reads the line that it writes to: results that are larger than the caches
// would cross the bus twice, and push out what is read again.
#pragma once
#include <cstddef>
#include <cstring>

namespace shw::runtime {

// Copies are made in blocks of so many bytes where there are several sources or results: what is
// read once stays in the first-level cache for all results, and the memory's streams go on side by
// side. [Empirical] Intel Xeon, sum of 4 × 16 MiB to 4 results: blocks of 512 bytes 3 ms, of 16 KiB
// 4 ms, in pages of 4 KiB 8 ms.
constexpr size_t kPastCachesBlock = 512;

// As memcpy. Other threads see the bytes once this one has called fence_past_caches() and then
// released what they acquire.
void copy_past_caches(void* to, const void* from, size_t bytes);
void fence_past_caches();

inline void copy_through_caches(void* to, const void* from, size_t bytes) {
  std::memcpy(to, from, bytes);
}

}  // namespace shw::runtime
