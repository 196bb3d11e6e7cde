// Host tensors with known contents for tests of the runtime.
#pragma once
#include <cstring>
#include <functional>
#include <vector>

#include "float8.h"
#include "runtime/half.h"
#include "runtime/host_tensor.h"

namespace shw::testing {

inline double get(const void* data, Dtype dtype, int64_t element) {
  const auto* p = static_cast<const std::byte*>(data) + element * dtype_size(dtype);
  const auto as = [&](auto t) {
    std::memcpy(&t, p, sizeof t);
    return t;
  };
  switch (dtype) {
    case Dtype::kF32:
      return static_cast<double>(as(float{}));
    case Dtype::kF64:
      return as(double{});
    case Dtype::kF16:
      return static_cast<double>(runtime::f16_to_f32(as(uint16_t{})));
    case Dtype::kBF16:
      return static_cast<double>(runtime::bf16_to_f32(as(uint16_t{})));
    case Dtype::kI8:
      return as(int8_t{});
    case Dtype::kI16:
      return as(int16_t{});
    case Dtype::kI32:
      return as(int32_t{});
    case Dtype::kI64:
      return static_cast<double>(as(int64_t{}));
    case Dtype::kU8:
      return as(uint8_t{});
    case Dtype::kBool:
      return as(uint8_t{});
    case Dtype::kC64:
      return static_cast<double>(as(float{}));  // the real part
    case Dtype::kF8E4M3:
    case Dtype::kF8E5M2:
      return float8_value(dtype, as(uint8_t{}));
  }
  return 0;
}

inline void set(void* data, Dtype dtype, int64_t element, double v) {
  auto* p = static_cast<std::byte*>(data) + element * dtype_size(dtype);
  const auto put = [&](auto t) { std::memcpy(p, &t, sizeof t); };
  switch (dtype) {
    case Dtype::kF32:
      return put(static_cast<float>(v));
    case Dtype::kF64:
      return put(v);
    case Dtype::kF16:
      return put(runtime::f32_to_f16(static_cast<float>(v)));
    case Dtype::kBF16:
      return put(runtime::f32_to_bf16(static_cast<float>(v)));
    case Dtype::kI8:
      return put(static_cast<int8_t>(v));
    case Dtype::kI16:
      return put(static_cast<int16_t>(v));
    case Dtype::kI32:
      return put(static_cast<int32_t>(v));
    case Dtype::kI64:
      return put(static_cast<int64_t>(v));
    case Dtype::kU8:
      return put(static_cast<uint8_t>(static_cast<int64_t>(v)));  // −2 is 254
    case Dtype::kBool:
      return put(static_cast<uint8_t>(v != 0));
    case Dtype::kC64: {
      const float zero = 0;
      std::memcpy(p + sizeof(float), &zero, sizeof zero);
      return put(static_cast<float>(v));
    }
    case Dtype::kF8E4M3:
    case Dtype::kF8E5M2:
      return put(nearest_float8(dtype, v));
  }
}

// A whole tensor whose element i is f(i).
inline runtime::HostTensor make_tensor(Dtype dtype, const Dims& shape,
                                       const std::function<double(int64_t)>& f) {
  runtime::HostTensor t{row_major(dtype, shape), {}};
  t.data.resize(static_cast<size_t>(t.type.bytes()));
  for (int64_t i = 0; i < t.type.numel(); ++i) set(t.data.data(), dtype, i, f(i));
  return t;
}

inline runtime::HostTensorView view_of(const runtime::HostTensor& t) {
  return {t.type, t.data.data()};
}

inline std::vector<double> values_of(const runtime::HostTensor& t) {
  std::vector<double> v;
  for (int64_t i = 0; i < t.type.numel(); ++i) v.push_back(get(t.data.data(), t.type.dtype, i));
  return v;
}

// Small integers without a pattern. Sums of a few thousand of them are exact in f32.
inline double small_integer(int64_t i) {
  return static_cast<double>((static_cast<uint64_t>(i) * 2654435761u >> 7) % 9) - 4;
}

}  // namespace shw::testing
