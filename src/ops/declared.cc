#include "ops/declared.h"

#include <algorithm>

namespace shw::ops {
namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::optional<StatedLayout> parse_for_any_mesh(std::string_view text) {
  for (int rank = 1; rank <= kMaxMeshRank; ++rank)
    if (auto layout = parse_layout(text, rank); layout.ok()) return StatedLayout{*layout, rank};
  return std::nullopt;
}

}  // namespace

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

Result<StatedLayout> parse_stated(std::string_view text, const TensorType& type) {
  const auto stated = parse_for_any_mesh(text);
  if (!stated)
    return invalid_argument(quoted(text) +
                            " is no layout: write one of R, S(dim), P, P(avg|max|min|product) for "
                            "each mesh dim, such as S(0)R");
  for (Placement p : stated->layout.placement) {
    if (p.is_strided() || p.kind == Placement::Kind::kMasked)
      return invalid_argument(quoted(text) +
                              ": a stated layout has neither strided shards nor masked partials");
    if (p.is_shard() && p.dim() >= type.rank())
      return invalid_argument(quoted(text) + " cuts dim " + std::to_string(p.dim()) + " of " +
                              to_string(type));
  }
  if (stated->layout.order != Layout{}.order)
    return invalid_argument(quoted(text) + ": a stated layout is cut in the order of the mesh");
  return *stated;
}

Status check_on_mesh(const StatedLayout& stated, const TensorType& type, const Mesh& mesh,
                     bool even) {
  const std::string text = quoted(to_string(stated.layout, stated.mesh_rank));
  if (stated.mesh_rank != mesh.rank())
    return invalid_argument(text + " does not have one placement for each dim of the mesh " +
                            mesh.to_string());
  if (!is_shardable(type.shape, stated.layout, mesh))
    return invalid_argument(text + " does not cut " + to_string(type) + " on the mesh " +
                            mesh.to_string() + ": not every rank gets an element");
  if (even && !is_evenly_sharded(type.shape, stated.layout, mesh))
    return invalid_argument(text + " does not cut " + to_string(type) + " evenly on the mesh " +
                            mesh.to_string());
  return {};
}

}  // namespace shw::ops
