#include "import/onnx/value.h"

namespace shw::import::onnx {

std::optional<Sizes> sizes_of(const Value& value) {
  constexpr int64_t kMost = 1024;
  if (value.sizes) return value.sizes;
  if (!value.known || is_floating(value.known->type.dtype) || is_complex(value.known->type.dtype) ||
      value.known->type.numel() > kMost)
    return std::nullopt;
  Sizes sizes{value.known->type.shape, value.known->type.dtype, {}};
  for (int64_t i = 0; i < value.known->type.numel(); ++i)
    sizes.items.push_back({integer_at(*value.known, static_cast<size_t>(i)), {}});
  return sizes;
}

Value value_of_sizes(std::string name, Sizes sizes) {
  Value value{.name = std::move(name)};
  if (has_symbols(sizes.items)) {
    value.sizes = std::move(sizes);
    return value;
  }
  std::vector<int64_t> numbers;
  for (const Expr& e : sizes.items) numbers.push_back(e.constant);
  value.known = known_integers(numbers, sizes.shape, sizes.dtype);
  return value;
}

}  // namespace shw::import::onnx
