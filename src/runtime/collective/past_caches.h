// Copies with streaming stores, which write to memory without going through the caches.
//
// An ordinary store first reads the cache line that it writes to. So results that are larger than
// the caches would cross the bus twice, and evict data that is read again.
#pragma once
#include <cstddef>
#include <cstring>

namespace shw::runtime {

// The block size in bytes of copies with several sources or results. Data that is read once then
// stays in the first-level cache for all results, and the memory streams progress together.
// [Empirical] Intel Xeon, sum of 4 × 16 MiB to 4 results: blocks of 512 bytes 3 ms, of 16 KiB 4 ms,
// in pages of 4 KiB 8 ms.
constexpr size_t kPastCachesBlock = 512;

// Like memcpy. The bytes are visible to another thread only if this thread calls
// fence_past_caches() after the copy and then synchronises with it by a release.
void copy_past_caches(void* to, const void* from, size_t bytes);
void fence_past_caches();

inline void copy_through_caches(void* to, const void* from, size_t bytes) {
  std::memcpy(to, from, bytes);
}

}  // namespace shw::runtime
