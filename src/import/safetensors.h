// Named tensors in the safetensors format: 8 bytes of header length, a JSON header, the data.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "support/status.h"
#include "tensor/tensor_type.h"

namespace shw::import {

struct StoredTensor {
  TensorType type;  // row-major
  std::vector<uint8_t> bytes;
};
using TensorFile = std::map<std::string, StoredTensor>;

// NOT_FOUND: cannot be opened. INVALID_ARGUMENT: not safetensors, an unknown dtype, or ranges that
// do not fit the shapes or the file; the message names the tensor.
Result<TensorFile> read_safetensors(const std::string& path);
Result<TensorFile> parse_safetensors(std::span<const uint8_t> bytes);
std::vector<uint8_t> safetensors_bytes(const TensorFile& tensors);
Status write_safetensors(const std::string& path, const TensorFile& tensors);

}  // namespace shw::import
