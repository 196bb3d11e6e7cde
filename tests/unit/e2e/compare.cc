#include "compare.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "float8.h"

namespace shw::testing {
namespace {

template <class T>
double element(const uint8_t* bytes, size_t i) {
  T v;
  std::memcpy(&v, bytes + i * sizeof(T), sizeof(T));
  return static_cast<double>(v);
}

double half_to_double(uint16_t h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  const double v = exponent == 0    ? std::ldexp(mantissa, -24)
                   : exponent == 31 ? (mantissa ? NAN : INFINITY)
                                    : std::ldexp(1024 + mantissa, exponent - 25);
  return h >> 15 ? -v : v;
}

// Element i of a tensor. A complex number counts as two elements.
double value(const import::StoredTensor& t, size_t i) {
  const uint8_t* b = t.bytes.data();
  switch (t.type.dtype) {
    case Dtype::kF32:
    case Dtype::kC64:
      return element<float>(b, i);
    case Dtype::kF64:
      return element<double>(b, i);
    case Dtype::kBF16:
      return std::bit_cast<float>(static_cast<uint32_t>(element<uint16_t>(b, i)) << 16);
    case Dtype::kF16:
      return half_to_double(static_cast<uint16_t>(element<uint16_t>(b, i)));
    case Dtype::kI64:
      return element<int64_t>(b, i);
    case Dtype::kI32:
      return element<int32_t>(b, i);
    case Dtype::kI16:
      return element<int16_t>(b, i);
    case Dtype::kI8:
      return element<int8_t>(b, i);
    case Dtype::kU8:
    case Dtype::kBool:
      return element<uint8_t>(b, i);
    case Dtype::kF8E4M3:
    case Dtype::kF8E5M2:
      return float8_value(t.type.dtype, b[i]);
  }
  return NAN;
}

double relative_error(const import::StoredTensor& got, const import::StoredTensor& want) {
  if (got.type.shape != want.type.shape || got.type.dtype != want.type.dtype) return INFINITY;
  const size_t count = static_cast<size_t>(got.type.numel()) * (is_complex(got.type.dtype) ? 2 : 1);
  double difference = 0, norm = 0;
  for (size_t i = 0; i < count; ++i) {
    const double g = value(got, i), w = value(want, i);
    difference += (g - w) * (g - w);
    norm += w * w;
  }
  if (difference == 0) return 0;
  return norm == 0 ? INFINITY : std::sqrt(difference / norm);
}

}  // namespace

Comparison compare(const import::TensorFile& got, const import::TensorFile& want,
                   double tolerance) {
  Comparison c;
  double worst = -1;
  for (const auto& [name, tensor] : got) {
    const auto it = want.find(name);
    if (it == want.end()) continue;
    const double error = relative_error(tensor, it->second);
    const bool half = tensor.type.dtype == Dtype::kBF16 || tensor.type.dtype == Dtype::kF16;
    ++c.num_compared;
    c.error[name] = error;
    if (!(error <= tolerance * (half ? 65536 : 1))) ++c.num_bad;  // NaN is bad
    double& of_kind = name.rfind("grad.", 0) == 0 ? c.worst_gradient : c.worst_output;
    if (!(error <= of_kind)) of_kind = error;
    if (!(error <= worst)) worst = error, c.worst_name = name;
  }
  return c;
}

}  // namespace shw::testing
