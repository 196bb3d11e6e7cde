#include "ops/declared.h"

namespace shw::ops {

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const size_t end = std::min(list.find(';'), list.size());
    std::string_view part = list.substr(0, end);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    parts.push_back(part);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

Result<Layout> stated_layout(std::string_view text, const TensorType& type, const Mesh& mesh) {
  SHW_ASSIGN_OR_RETURN(const Layout layout, parse_layout(text, mesh.rank()));
  if (is_shardable(type.shape, layout, mesh)) return layout;
  return invalid_argument("layout " + to_string(layout, mesh.rank()) + " does not cut " +
                          to_string(type) + " on mesh " + mesh.to_string() +
                          ": a dim is not there, or has no element for every rank");
}

}  // namespace shw::ops
