#include "verify/numbers.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/half.h"
#include "runtime/strided.h"
#include "tensor/float8.h"

namespace shw {
namespace {

using runtime::HostTensor;
using runtime::HostTensorView;

template <class S, class F>
auto converted(const std::vector<std::byte>& bytes, F&& f) {
  std::vector<decltype(f(S{}))> out(bytes.size() / sizeof(S));
  for (size_t i = 0; i < out.size(); ++i) {
    S s;
    std::memcpy(&s, bytes.data() + i * sizeof(S), sizeof(S));
    out[i] = f(s);
  }
  return out;
}

uint64_t mixed(uint64_t x) {  // SplitMix64's finaliser
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The bits of a floating-point number, of its next neighbour up or down in magnitude, or unchanged.
// Zeros, subnormal and extreme numbers, infinities and NaN stay.
template <class U>
void perturb(std::vector<std::byte>& bytes, int mantissa_bits, uint64_t seed) {
  const U exponent = static_cast<U>((static_cast<U>(~U{0}) >> 1) >> mantissa_bits << mantissa_bits);
  const U one = static_cast<U>(U{1} << mantissa_bits);
  for (size_t i = 0; i < bytes.size() / sizeof(U); ++i) {
    U u;
    std::memcpy(&u, bytes.data() + i * sizeof(U), sizeof(U));
    const U e = static_cast<U>(u & exponent);
    if (e <= one || e >= static_cast<U>(exponent - one)) continue;
    const uint64_t die = mixed(seed + (i + 1) * 0x9e3779b97f4a7c15u) >> 33;
    u = static_cast<U>(u + static_cast<U>(die % 3) - U{1});
    std::memcpy(bytes.data() + i * sizeof(U), &u, sizeof(U));
  }
}

}  // namespace

std::vector<std::byte> dense_bytes(const HostTensorView& t) {
  const TensorType dense = row_major(t.type.dtype, t.type.shape);
  std::vector<std::byte> bytes(static_cast<size_t>(dense.bytes()));
  if (!bytes.empty())
    runtime::StridedCopy(dense.shape, dtype_size(dense.dtype), dense.strides, t.type.strides)
        .run(bytes.data(), t.data);
  return bytes;
}

std::vector<double> numbers_of(const HostTensorView& t) {
  const std::vector<std::byte> bytes = dense_bytes(t);
  const auto plain = [](auto s) { return static_cast<double>(s); };
  switch (t.type.dtype) {
    case Dtype::kF32:
    case Dtype::kC64:
      return converted<float>(bytes, plain);
    case Dtype::kF64:
      return converted<double>(bytes, plain);
    case Dtype::kBF16:
      return converted<uint16_t>(
          bytes, [](uint16_t h) { return static_cast<double>(runtime::bf16_to_f32(h)); });
    case Dtype::kF16:
      return converted<uint16_t>(
          bytes, [](uint16_t h) { return static_cast<double>(runtime::f16_to_f32(h)); });
    case Dtype::kF8E4M3:
      return converted<uint8_t>(bytes,
                                [](uint8_t f) { return static_cast<double>(f8e4m3_to_f32(f)); });
    case Dtype::kF8E5M2:
      return converted<uint8_t>(bytes,
                                [](uint8_t f) { return static_cast<double>(f8e5m2_to_f32(f)); });
    default:
      break;
  }
  const std::vector<int64_t> integers = integers_of(t);
  return {integers.begin(), integers.end()};
}

std::vector<int64_t> integers_of(const HostTensorView& t) {
  const std::vector<std::byte> bytes = dense_bytes(t);
  const auto plain = [](auto s) { return static_cast<int64_t>(s); };
  switch (t.type.dtype) {
    case Dtype::kI64:
      return converted<int64_t>(bytes, plain);
    case Dtype::kI32:
      return converted<int32_t>(bytes, plain);
    case Dtype::kI16:
      return converted<int16_t>(bytes, plain);
    case Dtype::kI8:
      return converted<int8_t>(bytes, plain);
    default:
      return converted<uint8_t>(bytes, plain);
  }
}

double unit_roundoff(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return 0x1p-53;
    case Dtype::kF32:
    case Dtype::kC64:
      return 0x1p-24;
    case Dtype::kF16:
      return 0x1p-11;
    case Dtype::kBF16:
      return 0x1p-8;
    case Dtype::kF8E4M3:
      return 0x1p-4;
    case Dtype::kF8E5M2:
      return 0x1p-3;
    default:
      return 0;
  }
}

HostTensor perturbed(const HostTensorView& t, uint64_t seed) {
  HostTensor out{row_major(t.type.dtype, t.type.shape), dense_bytes(t)};
  switch (t.type.dtype) {
    case Dtype::kF64:
      perturb<uint64_t>(out.data, 52, seed);
      break;
    case Dtype::kF32:
    case Dtype::kC64:
      perturb<uint32_t>(out.data, 23, seed);
      break;
    case Dtype::kF16:
      perturb<uint16_t>(out.data, 10, seed);
      break;
    case Dtype::kBF16:
      perturb<uint16_t>(out.data, 7, seed);
      break;
    case Dtype::kF8E4M3:
      perturb<uint8_t>(out.data, 3, seed);
      break;
    case Dtype::kF8E5M2:
      perturb<uint8_t>(out.data, 2, seed);
      break;
    default:
      break;
  }
  return out;
}

Distance distance(const std::vector<double>& a, const std::vector<double>& b) {
  Distance d;
  double squares = 0, reference = 0, product = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
      d.not_finite += !same;
      continue;
    }
    const double e = a[i] - b[i];
    squares += e * e;
    reference += b[i] * b[i];
    product += e * b[i];
    ++d.count;
  }
  d.difference = std::sqrt(squares);
  d.norm = std::sqrt(reference);
  d.along = d.norm > 0 ? std::abs(product) / d.norm : 0;
  return d;
}

}  // namespace shw
