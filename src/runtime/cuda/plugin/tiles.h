// Launches of kernels that compute products tile by tile (kernels/product.cuh).
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

constexpr int64_t tiles_of(int64_t elements) {
  return (elements + kProductTile - 1) / kProductTile;
}

template <class... P>
Status launch_tiles(CudaStream& stream, DeviceKernel kernel, int64_t tiles, P... parameters) {
  void* pointers[] = {&parameters...};
  return stream.launch(kernel, tiles, kProductThreads, pointers);
}

}  // namespace shw::runtime::cuda
