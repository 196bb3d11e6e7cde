// How sums of many elements, whose results lie side by side, are cut so that they fill a device.
#pragma once
#include <algorithm>

#include "runtime/cuda/plugin/context.h"

namespace shw::runtime::cuda {

struct Slices {
  int columns;     // results of a block, which divide its threads
  int64_t slices;  // of the elements of a result
};
// A warp reads results beside each other. So many slices that all multiprocessors have work, of so
// many elements that each row of a block's threads has some.
// How many does not depend on the device that is there: a sum has the same bits on each.
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
