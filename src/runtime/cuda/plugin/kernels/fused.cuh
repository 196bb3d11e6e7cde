// What kernels that are generated for groups of steps stand on (fused_source.h): values between the
// steps are elements in registers, rounded as memory would hold them.
#pragma once
#include "online_sum.cuh"
#include "pointwise_formula.cuh"
#include "reduction_formula.cuh"
#include "table.cuh"
#include "vector.cuh"

namespace shw::runtime::cuda {

// How an element of a dtype lies in memory: of bool, u8 and 8-bit floats.
template <int dtype>
struct Stored {
  using Element = unsigned char;
};
template <>
struct Stored<kDeviceF32> {
  using Element = float;
};
template <>
struct Stored<kDeviceF64> {
  using Element = double;
};
template <>
struct Stored<kDeviceF16> {
  using Element = unsigned short;
};
template <>
struct Stored<kDeviceBF16> {
  using Element = unsigned short;
};
template <>
struct Stored<kDeviceI8> {
  using Element = signed char;
};
template <>
struct Stored<kDeviceI16> {
  using Element = short;
};
template <>
struct Stored<kDeviceI32> {
  using Element = int;
};
template <>
struct Stored<kDeviceI64> {
  using Element = i64;
};
template <>
struct Stored<kDeviceC64> {
  using Element = Complex;
};
template <int dtype>
using Element = typename Stored<dtype>::Element;

// `at`: bytes from `base`.
template <int dtype>
__device__ inline Element<dtype> read_element(const void* base, i64 at) {
  return element<Element<dtype>>(static_cast<const char*>(base) + at);
}
template <int dtype>
__device__ inline void write_element(void* base, i64 at, const Element<dtype>& e) {
  put(static_cast<char*>(base) + at, e);
}

// Elements that lie side by side, in instructions that move 16 bytes or, if they have fewer, all of
// them: so `base + at` is a multiple of what one instruction moves.
template <int dtype, int N>
struct Pack {
  Element<dtype> at[N];
};
template <int dtype, int N>
constexpr int kMovedAtOnce = N * sizeof(Element<dtype>) < kVectorBytes
                                 ? N
                                 : kVectorBytes / sizeof(Element<dtype>);
// Elements first … first + N - 1 of a pack, between memory and registers. Two of 16 bits are taken
// from a word, where widening a bf16 is one instruction.
template <class E, int N>
__device__ inline void read_vector(E* to, const void* from) {
  if constexpr (sizeof(E) == 2) {
    const auto words = vector_at<unsigned, N / 2>(from, 0);
    for (int k = 0; k < N; ++k) to[k] = static_cast<E>(words.at[k / 2] >> k % 2 * 16);
  } else {
    const auto some = vector_at<E, N>(from, 0);
    for (int k = 0; k < N; ++k) to[k] = some.at[k];
  }
}
template <class E, int N>
__device__ inline void write_vector(const E* from, void* to) {
  if constexpr (sizeof(E) == 2) {
    Vector<unsigned, N / 2> words;
    for (int k = 0; k < N; k += 2)
      words.at[k / 2] = static_cast<unsigned short>(from[k]) |
                        static_cast<unsigned>(static_cast<unsigned short>(from[k + 1])) << 16;
    put_vector(words, to, 0);
  } else {
    Vector<E, N> some;
    for (int k = 0; k < N; ++k) some.at[k] = from[k];
    put_vector(some, to, 0);
  }
}
template <int dtype, int N>
__device__ inline Pack<dtype, N> read_pack(const void* base, i64 at) {
  constexpr int kAtOnce = kMovedAtOnce<dtype, N>;
  const auto* p = reinterpret_cast<const Element<dtype>*>(static_cast<const char*>(base) + at);
  Pack<dtype, N> pack;
  for (int first = 0; first < N; first += kAtOnce)
    read_vector<Element<dtype>, kAtOnce>(pack.at + first, p + first);
  return pack;
}
template <int dtype, int N>
__device__ inline void write_pack(void* base, i64 at, const Pack<dtype, N>& pack) {
  constexpr int kAtOnce = kMovedAtOnce<dtype, N>;
  auto* p = reinterpret_cast<Element<dtype>*>(static_cast<char*>(base) + at);
  for (int first = 0; first < N; first += kAtOnce)
    write_vector<Element<dtype>, kAtOnce>(pack.at + first, p + first);
}
// The same in memory of the caller, where only `at` is known to be such a multiple.
template <int dtype, int N>
__device__ inline bool is_aligned(const void* base) {
  constexpr int kBytes = kMovedAtOnce<dtype, N> * sizeof(Element<dtype>);
  return reinterpret_cast<unsigned long long>(base) % kBytes == 0;
}
template <int dtype, int N>
__device__ inline Pack<dtype, N> read_callers_pack(const void* base, i64 at) {
  if (is_aligned<dtype, N>(base)) return read_pack<dtype, N>(base, at);
  Pack<dtype, N> pack;
  for (int k = 0; k < N; ++k)
    pack.at[k] = read_element<dtype>(base, at + k * static_cast<int>(sizeof(Element<dtype>)));
  return pack;
}
template <int dtype, int N>
__device__ inline void write_callers_pack(void* base, i64 at, const Pack<dtype, N>& pack) {
  if (is_aligned<dtype, N>(base)) return write_pack<dtype, N>(base, at, pack);
  for (int k = 0; k < N; ++k)
    write_element<dtype>(base, at + k * static_cast<int>(sizeof(Element<dtype>)), pack.at[k]);
}

// The element as a value that is computed with, and back.
template <class T, int dtype>
__device__ inline T widened(const Element<dtype>& e) {
  return load<T>(&e, 0, dtype);
}
template <int dtype, class T>
__device__ inline Element<dtype> narrowed(T x) {
  Element<dtype> e;
  store(x, &e, 0, dtype);
  return e;
}
template <int dtype>
__device__ inline Element<dtype> element_of_bits(i64 bits) {
  Element<dtype> e;
  copy_element(&e, &bits, dtype);
  return e;
}

__device__ inline bool is_zero(double x) { return x == 0; }
__device__ inline bool is_zero(Int x) { return x.v == 0; }

// Where an index points among the rows that are here; -1: at none of them. One that does not exist
// is an error of the step.
__device__ inline i64 place_in_line(Int index, const TableRows& rows, DeviceError* errors,
                                    const DeviceStep& step) {
  if (!exists(rows, index.v)) {
    report(errors, step, index.v, rows.whole);
    return -1;
  }
  return is_here(rows, index.v) ? index.v - rows.first : -1;
}

}  // namespace shw::runtime::cuda
