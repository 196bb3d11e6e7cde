// Values of a block's threads taken together, in a fixed order.
#pragma once
#include "math.cuh"

namespace shw::runtime::cuda {

// All threads of the block call it, a power of two of them, with memory for one value each, and all
// get the result. Eight values at a time: what is waited for is other threads, not additions.
// `threads`: how many there are, where that is known when this is compiled; else 0.
template <int threads = 0, class T, class Join>
__device__ inline T across_block(T value, T* shared, const Join& join) {
  constexpr int kAtOnce = 8;
  const int me = threadIdx.x;
  int width = threads != 0 ? threads : blockDim.x;
  shared[me] = value;
  __syncthreads();
  while (width > kAtOnce) {
    width /= kAtOnce;
    if (me < width) {
      T joined = shared[me];
      for (int k = 1; k < kAtOnce; ++k) joined = join(joined, shared[me + k * width]);
      shared[me] = joined;
    }
    __syncthreads();
  }
  T result = shared[0];
  for (int k = 1; k < width; ++k) result = join(result, shared[k]);
  __syncthreads();
  return result;
}
__device__ inline double block_sum(double value, double* shared) {
  return across_block(value, shared, [](double a, double b) { return a + b; });
}
__device__ inline double block_most(double value, double* shared) {
  return across_block(value, shared, [](double a, double b) { return a < b ? b : a; });
}

}  // namespace shw::runtime::cuda
