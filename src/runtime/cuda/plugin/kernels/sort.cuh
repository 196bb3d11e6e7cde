// A stable sort of lines of entries by their keys. Runs of a line are merged in pairs until one is
// left: each entry finds by bisection how many of the other run come before it. So each pass is
// one thread an entry, without atomics, and the order is the same on every run. The first passes
// stay within a tile of a line, which a block sorts in its shared memory.
#pragma once
#include "entries.cuh"

namespace shw::runtime::cuda {

// Where entry `at` of a line goes when runs of `width` are merged to runs of twice that.
__device__ inline i64 merged_place(const SortEntry* line, i64 count, i64 width, i64 at) {
  const i64 pair = at / (2 * width) * (2 * width);
  const i64 middle = pair + width < count ? pair + width : count;
  const i64 end = middle + width < count ? middle + width : count;
  const bool is_left = at < middle;
  // Of equal keys those of the left run come first.
  return is_left ? at + first_not_below(line + middle, end - middle, line[at].key)
                 : at - (middle - pair) + first_above(line + pair, middle - pair, line[at].key);
}

}  // namespace shw::runtime::cuda

// A block a tile.
SHW_KERNEL shw_sort_tiles(shw::runtime::cuda::SortEntry* entries, shw::runtime::cuda::i64 lines,
                          shw::runtime::cuda::i64 count) {
  using namespace shw::runtime::cuda;
  __shared__ SortEntry tiles[2][kSortTile];
  const i64 tiles_per_line = (count + kSortTile - 1) / kSortTile;
  for (i64 number = blockIdx.x; number < lines * tiles_per_line; number += gridDim.x) {
    const i64 first = number % tiles_per_line * kSortTile;
    const i64 size = count - first < kSortTile ? count - first : kSortTile;
    SortEntry* all = entries + number / tiles_per_line * count + first;
    int now = 0;
    for (i64 i = threadIdx.x; i < size; i += blockDim.x) tiles[0][i] = all[i];
    __syncthreads();
    for (i64 width = 1; width < size; width *= 2) {
      for (i64 i = threadIdx.x; i < size; i += blockDim.x)
        tiles[1 - now][merged_place(tiles[now], size, width, i)] = tiles[now][i];
      now = 1 - now;
      __syncthreads();
    }
    for (i64 i = threadIdx.x; i < size; i += blockDim.x) all[i] = tiles[now][i];
    __syncthreads();  // before the next tile takes the place of this one
  }
}
SHW_KERNEL shw_sort_merge(shw::runtime::cuda::SortEntry* to,
                          const shw::runtime::cuda::SortEntry* from, shw::runtime::cuda::i64 lines,
                          shw::runtime::cuda::i64 count, shw::runtime::cuda::i64 width) {
  using namespace shw::runtime::cuda;
  for (i64 t = thread_number(); t < lines * count; t += num_threads()) {
    const i64 line = t / count * count;
    to[line + merged_place(from + line, count, width, t - line)] = from[t];
  }
}
