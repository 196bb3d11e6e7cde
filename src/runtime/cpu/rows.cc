#include "runtime/cpu/rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/half.h"
#include "runtime/simd.h"
#include "tensor/float8.h"

namespace shw::runtime::cpu {
namespace {

// Storage formats without an arithmetic type in C++.
struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};
struct F8E4M3 {
  uint8_t bits;
};
struct F8E5M2 {
  uint8_t bits;
};
struct Bool {
  uint8_t byte;
};

int64_t to_integer(double x) {
  constexpr double kLimit = 0x1p63;
  if (!(x < kLimit)) return std::isnan(x) ? 0 : std::numeric_limits<int64_t>::max();
  if (x < -kLimit) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(x);
}

// Converts a stored element to T.
template <class T, class S>
T widen(S s) {
  if constexpr (std::is_same_v<T, S>) {
    return s;
  } else if constexpr (std::is_same_v<S, Bf16>) {
    return widen<T>(bf16_to_f32(s.bits));
  } else if constexpr (std::is_same_v<S, F16>) {
    return widen<T>(f16_to_f32(s.bits));
  } else if constexpr (std::is_same_v<S, F8E4M3>) {
    return widen<T>(f8e4m3_to_f32(s.bits));
  } else if constexpr (std::is_same_v<S, F8E5M2>) {
    return widen<T>(f8e5m2_to_f32(s.bits));
  } else if constexpr (std::is_same_v<S, Bool>) {
    return widen<T>(static_cast<uint8_t>(s.byte != 0));
  } else if constexpr (std::is_same_v<S, Complex>) {
    return widen<T>(s.re);
  } else if constexpr (std::is_same_v<T, Complex>) {
    return {static_cast<float>(s), 0};
  } else if constexpr (std::is_same_v<T, Int>) {
    if constexpr (std::is_floating_point_v<S>)
      return {to_integer(s)};
    else
      return {static_cast<int64_t>(s)};
  } else {
    return static_cast<T>(s);
  }
}

// Converts T to a stored element.
template <class S, class T>
S narrow(T t) {
  if constexpr (std::is_same_v<S, T>) {
    return t;
  } else if constexpr (std::is_same_v<S, Complex>) {
    if constexpr (std::is_same_v<T, Int>)
      return {static_cast<float>(t.v), 0};
    else
      return {static_cast<float>(t), 0};
  } else if constexpr (std::is_same_v<S, Bool>) {
    if constexpr (std::is_same_v<T, Complex>)
      return {static_cast<uint8_t>(t.re != 0 || t.im != 0)};
    else if constexpr (std::is_same_v<T, Int>)
      return {static_cast<uint8_t>(t.v != 0)};
    else
      return {static_cast<uint8_t>(t != 0)};
  } else if constexpr (std::is_same_v<T, Complex>) {
    return narrow<S>(t.re);
  } else if constexpr (std::is_same_v<S, Bf16>) {
    return {f32_to_bf16(narrow<float>(t))};
  } else if constexpr (std::is_same_v<S, F16>) {
    return {f32_to_f16(narrow<float>(t))};
  } else if constexpr (std::is_same_v<S, F8E4M3>) {
    return {f32_to_f8e4m3(narrow<float>(t))};
  } else if constexpr (std::is_same_v<S, F8E5M2>) {
    return {f32_to_f8e5m2(narrow<float>(t))};
  } else if constexpr (std::is_same_v<T, Int>) {
    return static_cast<S>(t.v);
  } else if constexpr (std::is_floating_point_v<S>) {
    return static_cast<S>(t);
  } else {
    return static_cast<S>(to_integer(static_cast<double>(t)));
  }
}

template <class T, class S>
void load(const std::byte* from, int64_t stride, int64_t n, T* to) {
  if (stride == sizeof(S)) {
    const auto* s = reinterpret_cast<const S*>(from);
    vector_loop(n, [=](int64_t i) { to[i] = widen<T>(s[i]); });
  } else {
    for (int64_t i = 0; i < n; ++i)
      to[i] = widen<T>(*reinterpret_cast<const S*>(from + i * stride));
  }
}

template <class T, class S>
void store(const T* from, int64_t n, std::byte* to, int64_t stride) {
  if (stride == sizeof(S)) {
    auto* s = reinterpret_cast<S*>(to);
    vector_loop(n, [=](int64_t i) { s[i] = narrow<S>(from[i]); });
  } else {
    for (int64_t i = 0; i < n; ++i) *reinterpret_cast<S*>(to + i * stride) = narrow<S>(from[i]);
  }
}

// 8-bit floats are converted via f32, which represents all of them exactly. A loop for each pair of
// types would take 13 KB of code.
template <class S>
concept Float8 = std::is_same_v<S, F8E4M3> || std::is_same_v<S, F8E5M2>;
constexpr int64_t kFloatsAtATime = 256;

template <class T, Float8 S>
void load_over_f32(const std::byte* from, int64_t stride, int64_t n, T* to) {
  Room<float, kFloatsAtATime> floats;
  float* f = floats;
  for (int64_t i = 0; i < n; i += kFloatsAtATime) {
    const int64_t count = std::min(kFloatsAtATime, n - i);
    load<float, S>(from + i * stride, stride, count, f);
    load<T, float>(reinterpret_cast<const std::byte*>(f), sizeof(float), count, to + i);
  }
}

template <class T, Float8 S>
void store_over_f32(const T* from, int64_t n, std::byte* to, int64_t stride) {
  Room<float, kFloatsAtATime> floats;
  float* f = floats;
  for (int64_t i = 0; i < n; i += kFloatsAtATime) {
    const int64_t count = std::min(kFloatsAtATime, n - i);
    store<T, float>(from + i, count, reinterpret_cast<std::byte*>(f), sizeof(float));
    store<float, S>(f, count, to + i * stride, stride);
  }
}

// Calls f with an object of the type in which `dtype` is stored.
template <class F>
auto with_stored_type(Dtype dtype, F&& f) -> decltype(f(float{})) {
  switch (dtype) {
    case Dtype::kF32:
      return f(float{});
    case Dtype::kF64:
      return f(double{});
    case Dtype::kF16:
      return f(F16{});
    case Dtype::kBF16:
      return f(Bf16{});
    case Dtype::kI8:
      return f(int8_t{});
    case Dtype::kI16:
      return f(int16_t{});
    case Dtype::kI32:
      return f(int32_t{});
    case Dtype::kI64:
      return f(int64_t{});
    case Dtype::kU8:
      return f(uint8_t{});
    case Dtype::kBool:
      return f(Bool{});
    case Dtype::kC64:
      return f(Complex{});
    case Dtype::kF8E4M3:
      return f(F8E4M3{});
    case Dtype::kF8E5M2:
      return f(F8E5M2{});
  }
  return nullptr;
}

}  // namespace

template <class T>
LoadRow<T> load_row(Dtype dtype) {
  return with_stored_type(dtype, [](auto s) -> LoadRow<T> {
    using S = decltype(s);
    if constexpr (Float8<S> && !std::is_same_v<T, float>)
      return load_over_f32<T, S>;
    else
      return load<T, S>;
  });
}
template <class T>
StoreRow<T> store_row(Dtype dtype) {
  return with_stored_type(dtype, [](auto s) -> StoreRow<T> {
    using S = decltype(s);
    if constexpr (Float8<S> && !std::is_same_v<T, float>)
      return store_over_f32<T, S>;
    else
      return store<T, S>;
  });
}

template LoadRow<float> load_row<float>(Dtype);
template LoadRow<double> load_row<double>(Dtype);
template LoadRow<Int> load_row<Int>(Dtype);
template LoadRow<Complex> load_row<Complex>(Dtype);
template StoreRow<float> store_row<float>(Dtype);
template StoreRow<double> store_row<double>(Dtype);
template StoreRow<Int> store_row<Int>(Dtype);
template StoreRow<Complex> store_row<Complex>(Dtype);

}  // namespace shw::runtime::cpu
