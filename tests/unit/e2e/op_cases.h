// Helpers for writing the lists of op cases. Each family of ops has its own file.
#pragma once
#include "one_op.h"

namespace shw::testing {

inline Operand f32(Dims shape, double low = -2, double high = 2) {
  return {.type = row_major(Dtype::kF32, shape), .low = low, .high = high};
}
inline Operand bf16(Dims shape) { return {.type = row_major(Dtype::kBF16, shape)}; }
inline Operand f8e4m3(Dims shape) { return {.type = row_major(Dtype::kF8E4M3, shape)}; }
inline Operand f8e5m2(Dims shape) { return {.type = row_major(Dtype::kF8E5M2, shape)}; }
inline Operand c64(Dims shape) { return {.type = row_major(Dtype::kC64, shape)}; }
inline Operand index(Dims shape, int64_t limit) {
  return {.type = row_major(Dtype::kI64, shape), .index_limit = limit};
}
inline Operand i32(Dims shape, int64_t limit) {
  return {.type = row_major(Dtype::kI32, shape), .index_limit = limit};
}
inline Operand truth(Dims shape) {
  return {.type = row_major(Dtype::kBool, shape), .index_limit = 2};
}
inline Operand documents(int64_t rows, int64_t most, int64_t length) {
  return {.type = row_major(Dtype::kI32, Dims{rows, most + 1}), .packs = length};
}
inline Operand absent() { return {.type = {}, .present = false}; }

inline Attrs attrs(std::initializer_list<Attrs::Item> items) {
  Attrs a;
  for (const auto& [key, value] : items) a.set(key, value);
  return a;
}
inline AttrValue ints(std::vector<int64_t> v) { return v; }
inline AttrValue text(const char* s) { return std::string(s); }

inline constexpr double kBits = 0;  // data movement: equal to the bit
inline constexpr double kRounding = 5e-6;
inline constexpr double kBf16 = 4e-3;  // one rounding to bf16's 8 bits of mantissa

void product_cases(std::vector<OpCase>& list);
void pointwise_cases(std::vector<OpCase>& list);
void movement_cases(std::vector<OpCase>& list);
void reduction_cases(std::vector<OpCase>& list);
void line_cases(std::vector<OpCase>& list);
void lookup_cases(std::vector<OpCase>& list);
void making_cases(std::vector<OpCase>& list);
void float8_cases(std::vector<OpCase>& list);

}  // namespace shw::testing
