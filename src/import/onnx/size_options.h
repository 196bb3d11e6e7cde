// The caller's values for the symbolic sizes of a model.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "support/status.h"
#include "tensor/symbols.h"

namespace shw::import::onnx {

// Symbols by name; a number becomes a symbol with a single value.
// "batch=8,sequence=16..512/16@128". INVALID_ARGUMENT: not such a list.
Result<std::map<std::string, Symbol>> parse_size_options(std::string_view text);

}  // namespace shw::import::onnx
