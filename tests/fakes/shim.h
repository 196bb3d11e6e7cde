// The parts of CUDA C++ that C++ lacks, for the host, as far as the kernels of
// src/runtime/cuda/plugin/kernels use them. The threads of a block are fibers of one host thread
// (block.h), so thread-local memory of that host thread serves as the block's shared memory.
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

// Exported, because kernels that the fake NVRTC compiles link against the library of the fakes.
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
// An atomic operation in place of a fence, since the thread sanitizer does not support fences.
inline void __threadfence_system() {
  static std::atomic<unsigned> order;
  order.fetch_add(0);
}
