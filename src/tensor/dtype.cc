#include "tensor/dtype.h"

#include <array>

namespace shw {
namespace {
constexpr std::array<std::string_view, 14> kDtypeNames = {
    "",    "f32", "f64", "f16",  "bf16", "i8",       "i16",
    "i32", "i64", "u8",  "bool", "c64",  "f8e4m3fn", "f8e5m2"};
}  // namespace

std::string_view dtype_name(Dtype d) {
  const auto n = static_cast<size_t>(d);
  return n < kDtypeNames.size() ? kDtypeNames[n] : std::string_view("?");
}

std::optional<Dtype> dtype_from_name(std::string_view name) {
  for (size_t i = 1; i < kDtypeNames.size(); ++i)
    if (kDtypeNames[i] == name) return static_cast<Dtype>(i);
  return std::nullopt;
}

std::optional<Dtype> dtype_from_number(int64_t number) {
  if (number < 1 || number >= static_cast<int64_t>(kDtypeNames.size())) return std::nullopt;
  return static_cast<Dtype>(number);
}

}  // namespace shw
