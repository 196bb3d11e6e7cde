#include "import/constant_data.h"

#include <cstring>

namespace shw::import {
namespace {

template <class T>
void append(std::vector<uint8_t>& bytes, T value) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

}  // namespace

Result<std::shared_ptr<const std::vector<uint8_t>>> constant_data(const nlohmann::json& list,
                                                                  const TensorType& type) {
  if (!list.is_array() || static_cast<int64_t>(list.size()) != type.numel())
    return invalid_argument("'data' is not a list of the " + std::to_string(type.numel()) +
                            " elements of " + to_string(type));
  auto bytes = std::make_shared<std::vector<uint8_t>>();
  for (const nlohmann::json& v : list) {
    if (!v.is_number() && !v.is_boolean()) return invalid_argument("'data' holds no number");
    const bool is_real = v.is_number_float();
    const double number = v.is_boolean() ? v.get<bool>() : v.get<double>();
    // A real number out of range has no defined integer.
    if (!is_floating(type.dtype) && is_real && !(number > -9e18 && number < 9e18))
      return invalid_argument("'data' contains " + v.dump() + ", which is out of range for " +
                              to_string(type));
    const int64_t whole = v.is_number_integer()     ? v.get<int64_t>()
                          : is_floating(type.dtype) ? 0
                                                    : static_cast<int64_t>(number);
    switch (type.dtype) {
      case Dtype::kF64:
        append(*bytes, number);
        break;
      case Dtype::kF32:
        append(*bytes, static_cast<float>(number));
        break;
      case Dtype::kBool:
        append(*bytes, static_cast<uint8_t>(number != 0));
        break;
      case Dtype::kI64:
        append(*bytes, whole);
        break;
      case Dtype::kI32:
        append(*bytes, static_cast<int32_t>(whole));
        break;
      case Dtype::kI16:
        append(*bytes, static_cast<int16_t>(whole));
        break;
      case Dtype::kI8:
      case Dtype::kU8:
        append(*bytes, static_cast<uint8_t>(whole));
        break;
      default:
        return unimplemented("constants of " + to_string(type));
    }
  }
  return std::shared_ptr<const std::vector<uint8_t>>(std::move(bytes));
}

}  // namespace shw::import
