#include "import/onnx/tensor.h"

#include <cmath>
#include <cstring>

#include "tensor/float8.h"

namespace shw::import::onnx {
namespace {

// Converts elements that are stored in a field of a wider type (bool in int32_data) to their own
// type.
template <class T, class Field>
void narrow(const Field& field, std::vector<uint8_t>& bytes) {
  bytes.resize(static_cast<size_t>(field.size()) * sizeof(T));
  size_t at = 0;
  for (const auto wide : field) {
    const T element = static_cast<T>(wide);
    std::memcpy(bytes.data() + at, &element, sizeof element);
    at += sizeof element;
  }
}

std::vector<uint8_t> typed_bytes(const TensorProto& t, Dtype dtype) {
  std::vector<uint8_t> bytes;
  switch (dtype) {
    case Dtype::kF32:
    case Dtype::kC64:
      narrow<float>(t.float_data(), bytes);
      break;
    case Dtype::kF64:
      narrow<double>(t.double_data(), bytes);
      break;
    case Dtype::kI64:
      narrow<int64_t>(t.int64_data(), bytes);
      break;
    case Dtype::kI32:
      narrow<int32_t>(t.int32_data(), bytes);
      break;
    case Dtype::kI16:
    case Dtype::kF16:
    case Dtype::kBF16:
      narrow<uint16_t>(t.int32_data(), bytes);
      break;
    case Dtype::kI8:
    case Dtype::kU8:
    case Dtype::kBool:
    case Dtype::kF8E4M3:
    case Dtype::kF8E5M2:
      narrow<uint8_t>(t.int32_data(), bytes);
      break;
  }
  return bytes;
}

template <class T>
T element(const Known& tensor, size_t index) {
  T value{};
  std::memcpy(&value, tensor.bytes->data() + index * sizeof value, sizeof value);
  return value;
}

double half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double value = 0;
  if (exponent == 31)
    value = mantissa != 0 ? NAN : INFINITY;
  else
    value =
        std::ldexp(exponent == 0 ? mantissa : mantissa + 1024, (exponent == 0 ? 1 : exponent) - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

float brain(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

template <class T>
void append(std::vector<uint8_t>& bytes, T value) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace

Result<Dtype> dtype_of(int64_t onnx) {
  switch (onnx) {
    case 1:
      return Dtype::kF32;
    case 2:
      return Dtype::kU8;
    case 3:
      return Dtype::kI8;
    case 5:
      return Dtype::kI16;
    case 6:
      return Dtype::kI32;
    case 7:
      return Dtype::kI64;
    case 9:
      return Dtype::kBool;
    case 10:
      return Dtype::kF16;
    case 11:
      return Dtype::kF64;
    case 14:
      return Dtype::kC64;
    case 16:
      return Dtype::kBF16;
    case 17:
      return Dtype::kF8E4M3;
    case 19:
      return Dtype::kF8E5M2;
    default:
      break;
  }
  constexpr const char* kOthers[] = {"undefined",
                                     "",
                                     "",
                                     "",
                                     "uint16",
                                     "",
                                     "",
                                     "",
                                     "string",
                                     "",
                                     "",
                                     "",
                                     "uint32",
                                     "uint64",
                                     "",
                                     "complex128",
                                     "",
                                     "",
                                     "float8e4m3fnuz",
                                     "",
                                     "float8e5m2fnuz",
                                     "uint4",
                                     "int4"};
  const bool known = onnx >= 0 && onnx < static_cast<int64_t>(std::size(kOthers));
  return unimplemented("element type " + std::to_string(onnx) +
                       (known ? std::string(" (") + kOthers[onnx] + ")" : std::string()) +
                       " is not supported");
}

Result<Known> known_of(const TensorProto& tensor) {
  SHW_ASSIGN_OR_RETURN(const Dtype dtype, dtype_of(tensor.data_type()));
  if (tensor.dims_size() > kMaxRank)
    return unimplemented("a tensor of " + std::to_string(tensor.dims_size()) + " dims; at most " +
                         std::to_string(kMaxRank) + " are supported");
  Known known;
  Dims shape;
  for (int64_t d : tensor.dims()) {
    if (d < 0) return invalid_argument("size " + std::to_string(d) + " of a tensor is negative");
    shape.push_back(d);
  }
  known.type = row_major(dtype, shape);
  SHW_RETURN_IF_ERROR(check_tensor_type(known.type));
  if (tensor.data_location() == TensorProto::EXTERNAL)
    return unimplemented(
        "the elements are in another file (external data), which is not supported: save the model "
        "as one file");
  std::vector<uint8_t> bytes;
  if (tensor.has_raw_data())
    bytes.assign(tensor.raw_data().begin(), tensor.raw_data().end());
  else
    bytes = typed_bytes(tensor, dtype);
  if (bytes.size() != static_cast<size_t>(known.type.bytes()))
    return invalid_argument(to_string(known.type) + " needs " + std::to_string(known.type.bytes()) +
                            " bytes, the tensor has " + std::to_string(bytes.size()));
  if (dtype == Dtype::kBool)  // other bytes are not valid truth values
    for (uint8_t& b : bytes) b = b != 0;
  known.bytes = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  return known;
}

double number_at(const Known& tensor, size_t index) {
  switch (tensor.type.dtype) {
    case Dtype::kF32:
      return element<float>(tensor, index);
    case Dtype::kF64:
      return element<double>(tensor, index);
    case Dtype::kF16:
      return half(element<uint16_t>(tensor, index));
    case Dtype::kBF16:
      return brain(element<uint16_t>(tensor, index));
    case Dtype::kF8E4M3:
      return f8e4m3_to_f32(element<uint8_t>(tensor, index));
    case Dtype::kF8E5M2:
      return f8e5m2_to_f32(element<uint8_t>(tensor, index));
    default:
      return static_cast<double>(integer_at(tensor, index));
  }
}

int64_t integer_at(const Known& tensor, size_t index) {
  switch (tensor.type.dtype) {
    case Dtype::kI64:
      return element<int64_t>(tensor, index);
    case Dtype::kI32:
      return element<int32_t>(tensor, index);
    case Dtype::kI16:
      return element<int16_t>(tensor, index);
    case Dtype::kI8:
      return element<int8_t>(tensor, index);
    case Dtype::kU8:
      return element<uint8_t>(tensor, index);
    case Dtype::kBool:
      return element<uint8_t>(tensor, index) != 0;
    default:
      return 0;  // callers use this only for integer tensors
  }
}

Known known_integers(const std::vector<int64_t>& values, const Dims& shape, Dtype dtype) {
  std::vector<uint8_t> bytes;
  for (int64_t v : values) {
    switch (dtype_size(dtype)) {
      case 8:
        append(bytes, v);
        break;
      case 4:
        append(bytes, static_cast<int32_t>(v));
        break;
      case 2:
        append(bytes, static_cast<int16_t>(v));
        break;
      default:
        append(bytes, static_cast<int8_t>(v));
        break;
    }
  }
  return {row_major(dtype, shape), std::make_shared<const std::vector<uint8_t>>(std::move(bytes))};
}

}  // namespace shw::import::onnx
