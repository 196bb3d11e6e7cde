// Entries that a sort puts in order, and the search among those that are.
#pragma once
#include "device.cuh"

namespace shw::runtime::cuda {

constexpr unsigned long long kLastKey = ~0ull;  // of what does not count

// How many of the entries, which are in order, have a key below this one; and one up to it.
__device__ inline i64 first_not_below(const SortEntry* entries, i64 count, unsigned long long key) {
  i64 first = 0;
  while (count > 0) {
    const i64 half = count / 2;
    const bool below = entries[first + half].key < key;
    first = below ? first + half + 1 : first;
    count = below ? count - half - 1 : half;
  }
  return first;
}
__device__ inline i64 first_above(const SortEntry* entries, i64 count, unsigned long long key) {
  return key == kLastKey ? count : first_not_below(entries, count, key + 1);
}

}  // namespace shw::runtime::cuda
