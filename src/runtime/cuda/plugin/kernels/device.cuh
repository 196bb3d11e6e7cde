// What all device code stands on: elements between memory and registers, and places in tensors.
#pragma once
#include "arguments.h"
#include "tensor/float8.h"

#define SHW_KERNEL extern "C" __global__ void

namespace shw::runtime::cuda {

// A complex number, and an integer whose arithmetic wraps: what kernels compute in beside float and
// double.
struct Complex {
  float re, im;
};
struct Int {
  i64 v;
};

__device__ inline float wider_half(unsigned short h) {
  // The exponent is moved in place as a float of the same bits and rescaled by 2^112, which also
  // makes subnormals normal; infinity and NaN get their exponent by hand.
  const unsigned sign = static_cast<unsigned>(h & 0x8000) << 16;
  const unsigned magnitude = static_cast<unsigned>(h & 0x7fff) << 13;
  const float scaled = __uint_as_float(magnitude) * 5.192296858534828e33f;
  const unsigned bits = (h & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000u : __float_as_uint(scaled);
  return __uint_as_float(sign | bits);
}

__device__ inline unsigned short narrower_half(float f) {
  const unsigned bits = __float_as_uint(f);
  const unsigned sign = bits >> 16 & 0x8000u;
  const unsigned magnitude = bits & 0x7fffffffu;
  unsigned result;
  if (magnitude > 0x7f800000u) {
    result = 0x7e00u;  // NaN
  } else if (magnitude >= 0x477ff000u) {
    result = 0x7c00u;  // 65520 and above round to infinity
  } else if (magnitude < 0x38800000u) {
    // Subnormal in f16: adding 0.5 leaves the result's bits, correctly rounded, at the bottom.
    result = __float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    result = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  }
  return static_cast<unsigned short>(sign | result);
}

__device__ inline float wider_bfloat(unsigned short h) {
  return __uint_as_float(static_cast<unsigned>(h) << 16);
}

__device__ inline unsigned short narrower_bfloat(float f) {
  const unsigned bits = __float_as_uint(f);
#if defined(__CUDACC__)
  unsigned rounded;  // in the upper half, where it is the float that wider_bfloat gives
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(rounded) : "f"(f), "f"(0.0f));
#else
  const unsigned rounded = bits + 0x7fffu + (bits >> 16 & 1u);
#endif
  // A NaN stays the same one, but quiet: the instruction knows one NaN only, and the addition could
  // carry its mantissa over to infinity.
  return static_cast<unsigned short>((f == f ? rounded : bits | 0x400000u) >> 16);
}

// A real number as an integer: towards zero, saturating, NaN as 0.
__device__ inline i64 whole(double x) {
  if (!(x == x)) return 0;
  if (x >= 9223372036854775808.0) return 0x7fffffffffffffffLL;
  if (x <= -9223372036854775808.0) return -0x7fffffffffffffffLL - 1;
  return static_cast<i64>(x);
}

// Conversions between the types that are computed in. Complex to real drops the imaginary part.
template <class T>
struct Compute;
template <>
struct Compute<float> {
  __device__ static float of(double x) { return static_cast<float>(x); }
  __device__ static float of(float x) { return x; }
  __device__ static float of(i64 x) { return static_cast<float>(x); }
  __device__ static float of(Complex x) { return x.re; }
};
template <>
struct Compute<double> {
  __device__ static double of(double x) { return x; }
  __device__ static double of(float x) { return static_cast<double>(x); }
  __device__ static double of(i64 x) { return static_cast<double>(x); }
  __device__ static double of(Complex x) { return static_cast<double>(x.re); }
};
template <>
struct Compute<Int> {
  __device__ static Int of(double x) { return {whole(x)}; }
  __device__ static Int of(float x) { return {whole(static_cast<double>(x))}; }
  __device__ static Int of(i64 x) { return {x}; }
  __device__ static Int of(Complex x) { return {whole(static_cast<double>(x.re))}; }
};
template <>
struct Compute<Complex> {
  __device__ static Complex of(double x) { return {static_cast<float>(x), 0}; }
  __device__ static Complex of(float x) { return {x, 0}; }
  __device__ static Complex of(i64 x) { return {static_cast<float>(x), 0}; }
  __device__ static Complex of(Complex x) { return x; }
};

template <class E>
__device__ inline E element(const void* p) {
  return *static_cast<const E*>(p);
}
template <class E>
__device__ inline void put(void* p, E value) {
  *static_cast<E*>(p) = value;
}

// An element of `dtype` at `base + offset` bytes, as a T.
template <class T>
__device__ inline T load(const void* base, i64 offset, int dtype) {
  const void* p = static_cast<const char*>(base) + offset;
  switch (dtype) {
    case kDeviceF32:
      return Compute<T>::of(element<float>(p));
    case kDeviceF64:
      return Compute<T>::of(element<double>(p));
    case kDeviceF16:
      return Compute<T>::of(wider_half(element<unsigned short>(p)));
    case kDeviceBF16:
      return Compute<T>::of(wider_bfloat(element<unsigned short>(p)));
    case kDeviceI8:
      return Compute<T>::of(static_cast<i64>(element<signed char>(p)));
    case kDeviceI16:
      return Compute<T>::of(static_cast<i64>(element<short>(p)));
    case kDeviceI32:
      return Compute<T>::of(static_cast<i64>(element<int>(p)));
    case kDeviceI64:
      return Compute<T>::of(element<i64>(p));
    case kDeviceC64:
      return Compute<T>::of(element<Complex>(p));
    case kDeviceF8E4M3:
      return Compute<T>::of(f8e4m3_to_f32(element<unsigned char>(p)));
    case kDeviceF8E5M2:
      return Compute<T>::of(f8e5m2_to_f32(element<unsigned char>(p)));
    default:  // bool and u8
      return Compute<T>::of(static_cast<i64>(element<unsigned char>(p)));
  }
}

__device__ inline bool is_true(float x) { return x != 0; }
__device__ inline bool is_true(double x) { return x != 0; }
__device__ inline bool is_true(Int x) { return x.v != 0; }
__device__ inline bool is_true(Complex x) { return x.re != 0 || x.im != 0; }
__device__ inline float real_part(float x) { return x; }
__device__ inline double real_part(double x) { return x; }
__device__ inline i64 real_part(Int x) { return x.v; }
__device__ inline float real_part(Complex x) { return x.re; }
__device__ inline i64 integer_part(float x) { return whole(static_cast<double>(x)); }
__device__ inline i64 integer_part(double x) { return whole(x); }
__device__ inline i64 integer_part(Int x) { return x.v; }
__device__ inline i64 integer_part(Complex x) { return whole(static_cast<double>(x.re)); }
template <class T>
__device__ inline Complex complex_of(T x) {
  return {static_cast<float>(real_part(x)), 0};
}
__device__ inline Complex complex_of(Complex x) { return x; }

template <class T>
__device__ inline void store(T x, void* base, i64 offset, int dtype) {
  void* p = static_cast<char*>(base) + offset;
  switch (dtype) {
    case kDeviceF32:
      return put(p, static_cast<float>(real_part(x)));
    case kDeviceF64:
      return put(p, static_cast<double>(real_part(x)));
    case kDeviceF16:
      return put(p, narrower_half(static_cast<float>(real_part(x))));
    case kDeviceBF16:
      return put(p, narrower_bfloat(static_cast<float>(real_part(x))));
    case kDeviceI8:
      return put(p, static_cast<signed char>(integer_part(x)));
    case kDeviceI16:
      return put(p, static_cast<short>(integer_part(x)));
    case kDeviceI32:
      return put(p, static_cast<int>(integer_part(x)));
    case kDeviceI64:
      return put(p, integer_part(x));
    case kDeviceC64:
      return put(p, complex_of(x));
    case kDeviceF8E4M3:
      return put(p, f32_to_f8e4m3(static_cast<float>(real_part(x))));
    case kDeviceF8E5M2:
      return put(p, f32_to_f8e5m2(static_cast<float>(real_part(x))));
    case kDeviceBool:
      return put(p, static_cast<unsigned char>(is_true(x)));
    default:
      return put(p, static_cast<unsigned char>(integer_part(x)));
  }
}

// The same for floating-point elements alone, but for 8-bit ones, which makes less code.
template <class T>
__device__ inline T load_real(const void* base, i64 offset, int dtype) {
  const void* p = static_cast<const char*>(base) + offset;
  switch (dtype) {
    case kDeviceF32:
      return static_cast<T>(element<float>(p));
    case kDeviceF64:
      return static_cast<T>(element<double>(p));
    case kDeviceF16:
      return static_cast<T>(wider_half(element<unsigned short>(p)));
    default:
      return static_cast<T>(wider_bfloat(element<unsigned short>(p)));
  }
}
template <class T>
__device__ inline void store_real(T x, void* base, i64 offset, int dtype) {
  void* p = static_cast<char*>(base) + offset;
  switch (dtype) {
    case kDeviceF32:
      return put(p, static_cast<float>(x));
    case kDeviceF64:
      return put(p, static_cast<double>(x));
    case kDeviceF16:
      return put(p, narrower_half(static_cast<float>(x)));
    default:
      return put(p, narrower_bfloat(static_cast<float>(x)));
  }
}

// Neither is negative. A GPU divides 32 bits several times as fast as 64.
__device__ inline i64 quotient(i64 a, i64 b) {
  if ((a | b) >> 32 == 0) return static_cast<unsigned>(a) / static_cast<unsigned>(b);
  return a / b;
}
// Offsets of run `at` of the loops, in N tensors.
template <int N>
struct Offsets {
  i64 of[N];
};
template <int N>
__device__ inline Offsets<N> offsets_at(const DeviceLoops& loops, const i64 (*stride)[kMaxLoops],
                                        i64 at) {
  Offsets<N> result = {};
  if (loops.rank == 0) return result;
  for (int d = loops.rank - 1; d > 0; --d) {
    const i64 outer = quotient(at, loops.size[d]);
    const i64 index = at - outer * loops.size[d];
    for (int o = 0; o < N; ++o) result.of[o] += index * stride[o][d];
    at = outer;
  }
  for (int o = 0; o < N; ++o) result.of[o] += at * stride[o][0];
  return result;
}
// `at` is less than loops.total.
__device__ inline i64 offset_at(const DeviceLoops& loops, const i64* stride, i64 at) {
  if (loops.rank == 0) return 0;
  i64 result = 0;
  for (int d = loops.rank - 1; d > 0; --d) {
    const i64 outer = quotient(at, loops.size[d]);
    result += (at - outer * loops.size[d]) * stride[d];
    at = outer;
  }
  return result + at * stride[0];
}

__device__ inline i64 thread_number() {
  return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline i64 num_threads() { return static_cast<i64>(gridDim.x) * blockDim.x; }

// The first error of all stays.
__device__ inline void report(DeviceError* error, const DeviceStep& step, i64 value, i64 bound) {
  if (atomicCAS(&error->found, 0u, 1u) != 0u) return;
  error->node = step.node;
  error->kernel = step.kernel;
  error->value = value;
  error->bound = bound;
  __threadfence_system();
  atomicExch(&error->ready, 1u);
}

}  // namespace shw::runtime::cuda
