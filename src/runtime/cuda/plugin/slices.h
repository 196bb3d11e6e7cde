// How long sums with contiguous results are divided into slices, so that they fill the device.
#pragma once
#include <algorithm>

#include "runtime/cuda/plugin/context.h"

namespace shw::runtime::cuda {

struct Slices {
  int columns;     // results per block; divides the block's threads
  int64_t slices;  // slices per sum
};
// The threads of a warp read neighbouring results. There are enough slices to occupy all
// multiprocessors, as long as each row of a block's threads has some elements. The number does not
// depend on the device, so that a sum has the same bits on every device.
inline Slices slices_of(int64_t results, int64_t elements, const Context& context) {
  constexpr int kWarp = 32;
  constexpr int64_t kBusyBlocks = 512, kLeastElements = 32;
  const int columns = std::min(kWarp, context.block_threads());
  const int64_t tiles = std::max<int64_t>((results + columns - 1) / columns, 1);
  const int64_t enough = (kBusyBlocks + tiles - 1) / tiles;
  const int64_t slices =
      std::clamp<int64_t>(enough, 1, std::max<int64_t>(elements / kLeastElements, 1));
  return {columns, slices};
}

}  // namespace shw::runtime::cuda
