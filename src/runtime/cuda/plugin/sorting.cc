#include "runtime/cuda/plugin/sorting.h"

#include <utility>

namespace shw::runtime::cuda {

Result<SortEntry*> LineSort::run(CudaStream& stream, SortEntry* entries) const {
  SortEntry *now = entries, *next = entries + lines * count;
  const i64 n = count, num_lines = lines;
  const int64_t tiles = lines * ((count + kSortTile - 1) / kSortTile);
  SHW_RETURN_IF_ERROR(
      launch_blocks(stream, DeviceKernel::shw_sort_tiles, tiles, now, num_lines, n));
  for (i64 width = kSortTile; width < count; width *= 2, std::swap(now, next)) {
    const SortEntry* from = now;
    SHW_RETURN_IF_ERROR(launch_elements(stream, DeviceKernel::shw_sort_merge, lines * count, next,
                                        from, num_lines, n, width));
  }
  return now;
}

}  // namespace shw::runtime::cuda
