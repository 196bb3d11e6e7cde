// Reads the fields of an ap-graph-1 file: look-ups that fail without exceptions, types, and
// metadata of nodes.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "support/status.h"

namespace shw::import::fx {

using nlohmann::json;

const json* member(const json& object, const char* key);  // null: no object, or no such member
std::string_view text_member(const json& object, const char* key);  // empty: no text
bool to_int(const json& value, int64_t* out);
int64_t int_member(const json& object, const char* key, int64_t otherwise);
std::string key_of(const json& value);     // equal if and only if the values are equal
std::string shortened(const json& value);  // for messages
// Numbers without a JSON literal: {"float": "-inf"}.
std::optional<double> special_number(std::string_view name);
// The `index`-th word of a space-separated list; empty past the end.
std::string_view word(std::string_view list, size_t index);

std::optional<Dtype> torch_dtype(std::string_view name);  // "bfloat16"
Status unsupported_dtype(std::string_view name);
Status read_type(const json& value, TensorType* out);  // of a "val"
NodeMeta read_meta(const json& node);

}  // namespace shw::import::fx
