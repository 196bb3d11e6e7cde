// A name in the text of an error.
#pragma once
#include <string>
#include <string_view>

namespace shw {

inline std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace shw
