#include "import/name_lines.h"

namespace shw::import {

std::string_view behind_name(std::string_view lines, std::string_view name) {
  for (size_t at = 0; !name.empty() && (at = lines.find(name, at + 1)) != lines.npos;) {
    const char before = lines[at - 1], after = lines[at + name.size()];
    if ((before != '\n' && before != '|') || (after != '|' && after != '(' && after != ':'))
      continue;
    const size_t start = lines.rfind('\n', at) + 1, end = lines.find_first_of("(:", start);
    if (end < at) continue;  // not among the names
    return lines.substr(end, lines.find('\n', end) - end);
  }
  return {};
}

}  // namespace shw::import
