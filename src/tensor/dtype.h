// Element types. The numbers are part of the graph and plan formats and of the C API: never change
// or reuse one.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace shw {

enum class Dtype : uint8_t {
  kF32 = 1,
  kF64 = 2,
  kF16 = 3,
  kBF16 = 4,
  kI8 = 5,
  kI16 = 6,
  kI32 = 7,
  kI64 = 8,
  kU8 = 9,
  kBool = 10,
  kC64 = 11,     // complex of two f32
  kF8E4M3 = 12,  // OCP FP8 E4M3: no infinity, one NaN of each sign, 448 at most
  kF8E5M2 = 13,  // OCP FP8 E5M2: as IEEE 754 would have it, 57344 at most
};

constexpr int64_t dtype_size(Dtype d) {
  switch (d) {
    case Dtype::kF64:
    case Dtype::kI64:
    case Dtype::kC64:
      return 8;
    case Dtype::kF32:
    case Dtype::kI32:
      return 4;
    case Dtype::kF16:
    case Dtype::kBF16:
    case Dtype::kI16:
      return 2;
    case Dtype::kI8:
    case Dtype::kU8:
    case Dtype::kBool:
    case Dtype::kF8E4M3:
    case Dtype::kF8E5M2:
      return 1;
  }
  return 0;
}
// 8-bit floats can be cast, moved, compared, and multiplied by scaled_mm. They have no other
// arithmetic.
constexpr bool is_float8(Dtype d) { return d == Dtype::kF8E4M3 || d == Dtype::kF8E5M2; }
constexpr bool is_floating(Dtype d) {
  return d == Dtype::kF32 || d == Dtype::kF64 || d == Dtype::kF16 || d == Dtype::kBF16 ||
         is_float8(d);
}
constexpr bool is_complex(Dtype d) { return d == Dtype::kC64; }

std::string_view dtype_name(Dtype d);  // "f32", "bf16", "f8e4m3fn", "i64", "bool"
std::optional<Dtype> dtype_from_name(std::string_view name);
std::optional<Dtype> dtype_from_number(int64_t number);

}  // namespace shw
