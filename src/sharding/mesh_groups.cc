#include "sharding/mesh_groups.h"

#include <algorithm>

#include "support/trim.h"

namespace shw {
namespace {

// Removes the text before the next `separator` from the front of `text`, and returns it without
// surrounding blanks.
std::string_view take_part(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

Result<std::vector<uint8_t>> parse_group(std::string_view text, const Mesh& mesh) {
  std::vector<uint8_t> axes;
  do {
    const std::string_view name = take_part(text, ',');
    uint8_t axis = 0;
    while (axis < mesh.rank() && mesh.name(axis) != name) ++axis;
    if (axis == mesh.rank())
      return invalid_argument("'" + std::string(name) + "' is no dim of the mesh " +
                              mesh.to_string());
    if (std::ranges::find(axes, axis) != axes.end())
      return invalid_argument("mesh dim '" + std::string(name) + "' stands twice in a group");
    axes.push_back(axis);
  } while (!text.empty());
  return axes;
}

}  // namespace

Result<std::vector<std::vector<uint8_t>>> parse_groups(std::string_view text, const Mesh& mesh) {
  std::vector<std::vector<uint8_t>> groups;
  while (!text.empty()) {
    SHW_ASSIGN_OR_RETURN(groups.emplace_back(), parse_group(take_part(text, ';'), mesh));
  }
  return groups;
}

}  // namespace shw
