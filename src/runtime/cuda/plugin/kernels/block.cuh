// Values of a block's threads taken together, in a fixed order.
#pragma once
#include "math.cuh"

namespace shw::runtime::cuda {

template <class T>
struct AddTwo {
  __device__ static T of(T a, T b) { return a + b; }
};
template <class T>
struct LargerOfTwo {
  __device__ static T of(T a, T b) { return a < b ? b : a; }
};

// All threads of the block call it, with memory for one value each, and all get the result.
template <class Join, class T>
__device__ inline T across_block(T value, T* shared) {
  const int me = threadIdx.x;
  shared[me] = value;
  __syncthreads();
  for (int width = blockDim.x / 2; width > 0; width /= 2) {  // a power of two threads
    if (me < width) shared[me] = Join::of(shared[me], shared[me + width]);
    __syncthreads();
  }
  const T result = shared[0];
  __syncthreads();
  return result;
}
__device__ inline double block_sum(double value, double* shared) {
  return across_block<AddTwo<double>>(value, shared);
}

}  // namespace shw::runtime::cuda
