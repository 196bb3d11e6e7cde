// Neighbouring elements that one instruction moves between memory and registers.
#pragma once
#include "device.cuh"

namespace shw::runtime::cuda {

template <class E, int N>
struct alignas(sizeof(E) * N) Vector {  // 16 bytes at most
  E at[N];
};

// Elements first … first + N - 1 from `base` on, a multiple of their size in bytes.
template <class E, int N>
__device__ inline Vector<E, N> vector_at(const void* base, i64 first) {
  return *reinterpret_cast<const Vector<E, N>*>(static_cast<const E*>(base) + first);
}
template <class E, int N>
__device__ inline void put_vector(const Vector<E, N>& v, void* base, i64 first) {
  *reinterpret_cast<Vector<E, N>*>(static_cast<E*>(base) + first) = v;
}

}  // namespace shw::runtime::cuda
