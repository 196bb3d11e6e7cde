// Tables stored as one text. Each line has one name, or several names that share the rest of the
// line: "add.Scalar|add.Tensor: …". A text needs no relocations, which would take more space than
// the rows themselves.
#pragma once
#include <string_view>

namespace shw::import {

// Finds the line that has `name` among its names, and returns the rest of the line from ':' or '('
// on. Empty: there is none. `lines` must begin and end with a line feed.
std::string_view behind_name(std::string_view lines, std::string_view name);

// Calls f(name, rest of the line) for each name, in order.
template <class F>
void for_each_name(std::string_view lines, F&& f) {
  for (lines.remove_prefix(1); !lines.empty(); lines.remove_prefix(lines.find('\n') + 1)) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    const size_t end = line.find_first_of("(:");
    for (size_t at = 0; at < end; at = line.find_first_of("|(:", at) + 1)
      f(line.substr(at, line.find_first_of("|(:", at) - at), line.substr(end));
  }
}

}  // namespace shw::import
