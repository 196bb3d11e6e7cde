#include "import/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "import/file.h"

namespace shw::import {
namespace {

using nlohmann::json;

constexpr std::pair<const char*, Dtype> kNames[] = {
    {"F32", Dtype::kF32},       {"F64", Dtype::kF64}, {"F16", Dtype::kF16},
    {"BF16", Dtype::kBF16},     {"I8", Dtype::kI8},   {"I16", Dtype::kI16},
    {"I32", Dtype::kI32},       {"I64", Dtype::kI64}, {"U8", Dtype::kU8},
    {"BOOL", Dtype::kBool},     {"C64", Dtype::kC64}, {"F8_E4M3", Dtype::kF8E4M3},
    {"F8_E5M2", Dtype::kF8E5M2}};

Result<StoredTensor> parse_tensor(const json& entry, std::span<const uint8_t> data) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
      !entry.contains("shape") || !entry["shape"].is_array() || !entry.contains("data_offsets") ||
      !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
    return invalid_argument("expected dtype, shape and two data_offsets");
  const auto& name = entry["dtype"].get_ref<const std::string&>();
  const auto* known = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const auto& n) { return n.first == name; });
  if (known == std::end(kNames)) return invalid_argument("unknown dtype '" + name + "'");
  if (entry["shape"].size() > kMaxRank) return invalid_argument("more than 8 dims");
  Dims shape;
  for (const json& d : entry["shape"]) {
    if (!d.is_number_integer()) return invalid_argument("a dim is not an integer");
    shape.push_back(d.get<int64_t>());
    if (shape.back() < 0) return invalid_argument("a dim is negative");
  }
  StoredTensor t{row_major(known->second, shape), {}};
  SHW_RETURN_IF_ERROR(check_tensor_type(t.type));
  uint64_t range[2];
  for (size_t i = 0; i < 2; ++i) {
    if (!entry["data_offsets"][i].is_number_unsigned())
      return invalid_argument("a data offset is not a number");
    range[i] = entry["data_offsets"][i].get<uint64_t>();
  }
  if (range[0] > range[1] || range[1] > data.size())
    return invalid_argument("bytes " + std::to_string(range[0]) + " to " +
                            std::to_string(range[1]) + " are not in the file, which has " +
                            std::to_string(data.size()));
  if (range[1] - range[0] != static_cast<uint64_t>(t.type.bytes()))
    return invalid_argument(to_string(t.type) + " needs " + std::to_string(t.type.bytes()) +
                            " bytes, the file gives " + std::to_string(range[1] - range[0]));
  t.bytes.assign(data.begin() + static_cast<ptrdiff_t>(range[0]),
                 data.begin() + static_cast<ptrdiff_t>(range[1]));
  return t;
}

}  // namespace

Result<TensorFile> parse_safetensors(std::span<const uint8_t> bytes) {
  uint64_t header_bytes = 0;
  if (bytes.size() < sizeof header_bytes)
    return invalid_argument("not a safetensors file: shorter than its header");
  std::memcpy(&header_bytes, bytes.data(), sizeof header_bytes);
  const auto body = bytes.subspan(sizeof header_bytes);
  if (header_bytes > body.size())
    return invalid_argument("not a safetensors file, or cut off: its header should have " +
                            std::to_string(header_bytes) + " bytes, " +
                            std::to_string(body.size()) + " are there");
  const auto header_end = body.begin() + static_cast<ptrdiff_t>(header_bytes);
  const json header = json::parse(body.begin(), header_end, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    return invalid_argument("not a safetensors file: its header is not a JSON object");
  TensorFile file;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    auto t = parse_tensor(entry, body.subspan(static_cast<size_t>(header_bytes)));
    if (!t.ok()) return Status(t.status().code(), "tensor '" + name + "': " + t.status().message());
    file.emplace(name, std::move(*t));
  }
  return file;
}

Result<TensorFile> read_safetensors(const std::string& path) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read_file(path));
  auto file = parse_safetensors(bytes);
  if (!file.ok()) return Status(file.status().code(), path + ": " + file.status().message());
  return file;
}

std::vector<uint8_t> safetensors_bytes(const TensorFile& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t offset = 0;
  for (const auto& [name, t] : tensors) {
    const auto* known =
        std::find_if(std::begin(kNames), std::end(kNames),
                     [dtype = t.type.dtype](const auto& n) { return n.second == dtype; });
    header[name] = {{"dtype", known->first},
                    {"shape", std::vector<int64_t>(t.type.shape.begin(), t.type.shape.end())},
                    {"data_offsets", {offset, offset + t.bytes.size()}}};
    offset += t.bytes.size();
  }
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // data starts aligned
  const uint64_t size = text.size();
  std::vector<uint8_t> bytes;
  bytes.reserve(sizeof size + text.size() + offset);
  bytes.resize(sizeof size);
  std::memcpy(bytes.data(), &size, sizeof size);
  bytes.insert(bytes.end(), text.begin(), text.end());
  for (const auto& [name, t] : tensors) bytes.insert(bytes.end(), t.bytes.begin(), t.bytes.end());
  return bytes;
}

Status write_safetensors(const std::string& path, const TensorFile& tensors) {
  return write_file(path, safetensors_bytes(tensors));
}

}  // namespace shw::import
