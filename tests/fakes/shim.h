// The device language on the host: what CUDA C++ has beyond C++, as far as the kernels of
// src/runtime/cuda/plugin/kernels use it. A block's threads are fibers of one thread of the host
// (block.h), so a block's shared memory is that thread's.
#pragma once
#include <atomic>
#include <bit>
#include <cmath>

#define __global__
#define __device__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __noinline__

namespace shw::fakes {
struct Coordinates {
  unsigned x, y, z;
};
}  // namespace shw::fakes

// Kernels that the fake NVRTC compiles find them in the fakes' library.
#define SHW_FAKE_SHIM __attribute__((visibility("default")))
SHW_FAKE_SHIM extern thread_local shw::fakes::Coordinates threadIdx, blockIdx, blockDim, gridDim;
SHW_FAKE_SHIM void __syncthreads();

inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }

inline unsigned atomicCAS(unsigned* at, unsigned expected, unsigned value) {
  std::atomic_ref(*at).compare_exchange_strong(expected, value);
  return expected;
}
inline unsigned atomicExch(unsigned* at, unsigned value) {
  return std::atomic_ref(*at).exchange(value);
}
// A fence; but the thread sanitizer knows none.
inline void __threadfence_system() {
  static std::atomic<unsigned> order;
  order.fetch_add(0);
}
