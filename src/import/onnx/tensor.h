// Tensors that are stored in a model: their types and bytes.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onnx.pb.h"
#include "support/status.h"
#include "tensor/tensor_type.h"

namespace shw::import::onnx {

using shardwise::onnx::TensorProto;

// A tensor whose elements are known at import. Row-major.
struct Known {
  TensorType type;
  std::shared_ptr<const std::vector<uint8_t>> bytes;
};

// Converts a TensorProto.DataType. UNIMPLEMENTED: strings, and types without a dtype in this
// library.
Result<Dtype> dtype_of(int64_t onnx);
// INVALID_ARGUMENT: the number of elements does not match the sizes. UNIMPLEMENTED: the elements
// are in another file.
Result<Known> known_of(const TensorProto& tensor);

// One element, converted; `index` must be in range. number_at() rounds integers beyond 2^53.
double number_at(const Known& tensor, size_t index);
int64_t integer_at(const Known& tensor, size_t index);

Known known_integers(const std::vector<int64_t>& values, const Dims& shape, Dtype dtype);

}  // namespace shw::import::onnx
