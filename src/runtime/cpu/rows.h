// Loads and stores rows of elements, with conversion between each dtype and the type in which a
// kernel computes.
//
// A kernel computes in one of four types: f32 (for f32, bf16, f16 and 8-bit floats: rounded once at
// the end), f64, int64 (all integers and bool; an overflow wraps when the value is stored) and
// complex. The output's dtype determines the type.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tensor/dtype.h"

namespace shw::runtime::cpu {

struct Complex {
  float re = 0, im = 0;
  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend Complex operator-(Complex a) { return {-a.re, -a.im}; }
  friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

// An integer with wrap-around arithmetic.
struct Int {
  int64_t v = 0;
  friend Int operator+(Int a, Int b) { return of(a.u() + b.u()); }
  friend Int operator-(Int a, Int b) { return of(a.u() - b.u()); }
  friend Int operator-(Int a) { return of(0 - a.u()); }
  friend Int operator*(Int a, Int b) { return of(a.u() * b.u()); }
  friend bool operator<(Int a, Int b) { return a.v < b.v; }
  friend bool operator<=(Int a, Int b) { return a.v <= b.v; }

 private:
  uint64_t u() const { return static_cast<uint64_t>(v); }
  static Int of(uint64_t u) { return {static_cast<int64_t>(u)}; }
};

// Uninitialised storage for elements that are written before they are read. A plain array of Int or
// Complex would be zero-initialised for every short row.
template <class T, size_t n>
class Room {
 public:
  operator T*() { return reinterpret_cast<T*>(bytes_); }  // NOLINT(google-explicit-constructor)

 private:
  alignas(64) std::byte bytes_[n * sizeof(T)];
};

// Calls f(T{}) with the compute type of results of `dtype`.
template <class F>
decltype(auto) with_compute_type(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::kF64:
      return f(double{});
    case Dtype::kF32:
    case Dtype::kF16:
    case Dtype::kBF16:
    case Dtype::kF8E4M3:
    case Dtype::kF8E5M2:
      return f(float{});
    case Dtype::kC64:
      return f(Complex{});
    default:
      return f(Int{});
  }
}

// The dtypes that compiled loops (codegen/) read and write.
constexpr bool in_compiled_loops(Dtype dtype) {
  return dtype == Dtype::kF32 || dtype == Dtype::kBF16;
}

template <class T>
constexpr bool stored_as_is(Dtype dtype) {  // a T in memory is the element itself
  return dtype == (std::is_same_v<T, float>    ? Dtype::kF32
                   : std::is_same_v<T, double> ? Dtype::kF64
                   : std::is_same_v<T, Int>    ? Dtype::kI64
                                               : Dtype::kC64);
}

template <class T>
using LoadRow = void (*)(const std::byte* from, int64_t stride_bytes, int64_t n, T* to);
template <class T>
using StoreRow = void (*)(const T* from, int64_t n, std::byte* to, int64_t stride_bytes);

// Never null for a known dtype. Lossy conversions follow ATen: complex to real drops the imaginary
// part; conversion to bool tests for nonzero; real to integer rounds towards zero. Where C++ leaves
// the last one undefined, it saturates, and NaN becomes 0.
template <class T>
LoadRow<T> load_row(Dtype dtype);
template <class T>
StoreRow<T> store_row(Dtype dtype);

}  // namespace shw::runtime::cpu
