// What kernels that are generated for groups of steps stand on (fused_source.h): values between the
// steps are elements in registers, rounded as memory would hold them.
#pragma once
#include "online_sum.cuh"
#include "pointwise_formula.cuh"
#include "reduction_formula.cuh"
#include "table.cuh"

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
