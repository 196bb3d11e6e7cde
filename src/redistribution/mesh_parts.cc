#include "redistribution/mesh_parts.h"

#include <algorithm>
#include <numeric>

namespace shw {
namespace {

// The sizes of other dims that divide `size`, such that each is a multiple of the one before.
std::vector<int64_t> parts_of(int64_t size, std::vector<int64_t> sizes) {
  std::ranges::sort(sizes);
  std::vector<int64_t> parts;
  int64_t counted = 1;
  for (const int64_t s : sizes)
    if (s < size && s > counted && s % counted == 0 && size % s == 0) {
      parts.push_back(s / counted);
      counted = s;
    }
  if (!parts.empty()) parts.push_back(size / counted);
  return parts;
}

}  // namespace

Mesh with_parts(const Mesh& mesh, int max_dims) {
  std::vector<int64_t> sizes;
  for (const Mesh::Axis& a : mesh.axes()) sizes.push_back(a.size);
  std::vector<Mesh::Axis> axes = mesh.axes();
  for (Mesh::Axis& a : axes) a.parts = parts_of(a.size, sizes);
  int dims = 0;
  for (const Mesh::Axis& a : axes) dims += std::max(1, static_cast<int>(a.parts.size()));
  if (dims > max_dims || dims == mesh.rank()) return mesh;
  const Result<Mesh> made = Mesh::create(std::move(axes));
  return made.ok() ? *made : mesh;
}

MeshParts::MeshParts(const Mesh& mesh) : mesh_(mesh.by_parts()) {
  uint8_t first = 0;
  int part = kFirstMeshPart;
  for (const Mesh::Axis& a : mesh.axes()) {
    const auto count = static_cast<uint8_t>(std::max<size_t>(1, a.parts.size()));
    ranges_.push_back({first, count, static_cast<uint8_t>(part)});
    for (uint8_t d = first; d < first + count; ++d) siblings_[d] = ((1u << count) - 1) << first;
    first = static_cast<uint8_t>(first + count);
    part += static_cast<int>(a.parts.size());
  }
}

std::optional<Layout> MeshParts::by_parts(const Layout& layout, const Dims& shape) const {
  Layout made;
  auto place = made.order.begin();
  for (uint8_t m : layout.order) {
    if (m >= ranges_.size()) continue;
    for (uint8_t i = 0; i < ranges_[m].count; ++i) {
      const auto d = static_cast<uint8_t>(ranges_[m].first + i);
      made[d] = layout[m];
      *place++ = d;
    }
  }
  std::iota(place, made.order.end(), static_cast<uint8_t>(mesh_.rank()));
  if (layout.has_strided() || !is_evenly_sharded(shape, made, mesh_)) return std::nullopt;
  normalise(made);
  return made;
}

std::optional<Layout> MeshParts::whole(const Layout& layout) const {
  Layout made;
  auto place = made.order.begin();
  std::array<uint8_t, kMaxMeshRank> next_of{};  // by dim: its next part that cuts
  for (uint8_t m = 0; m < ranges_.size(); ++m) {
    made[m] = layout[ranges_[m].first];
    for (uint8_t i = 1; i < ranges_[m].count; ++i)
      if (layout[ranges_[m].first + i] != made[m]) return std::nullopt;
  }
  // The parts of a dim that cuts a tensor dim must be consecutive. Dims that cut another tensor dim
  // may be between them.
  for (size_t d = 0; d < kMaxRank; ++d) {
    uint8_t open = kMaxMeshRank;  // the dim whose remaining parts must come next
    for (uint8_t p : layout.order) {
      if (p >= mesh_.rank() || !layout[p].is_shard(static_cast<int>(d))) continue;
      const auto m = static_cast<uint8_t>(range_of(p));
      if (p != ranges_[m].first + next_of[m] || (open != kMaxMeshRank && open != m))
        return std::nullopt;
      if (next_of[m] == 0) *place++ = m;
      open = ++next_of[m] < ranges_[m].count ? m : static_cast<uint8_t>(kMaxMeshRank);
    }
  }
  for (uint8_t m = 0; m < kMaxMeshRank; ++m)
    if (std::find(made.order.begin(), place, m) == place) *place++ = m;
  normalise(made);
  return made;
}

size_t MeshParts::range_of(uint8_t dim) const {
  size_t m = 0;
  while (dim >= ranges_[m].first + ranges_[m].count) ++m;
  return m;
}

std::vector<uint8_t> MeshParts::renamed(const Axes& dims, bool joins) const {
  std::vector<uint8_t> axes;
  for (size_t i = 0; i < dims.size();) {
    const size_t m = range_of(dims[i]);
    const Range r = ranges_[m];
    bool is_whole = dims[i] == r.first && i + r.count <= dims.size() && (joins || r.count == 1);
    for (uint8_t k = 0; is_whole && k < r.count; ++k) is_whole = dims[i + k] == r.first + k;
    axes.push_back(static_cast<uint8_t>(is_whole ? m : r.first_part + dims[i] - r.first));
    i += is_whole ? r.count : 1;
  }
  return axes;
}

void MeshParts::rename(const MoveEdge& move, std::vector<uint8_t>& axes,
                       std::vector<uint8_t>& to) const {
  axes = renamed(move.axes, true);
  to = renamed(move.to_axes, true);
  if (to.empty() || std::ranges::is_permutation(axes, to)) return;
  axes = renamed(move.axes, false);
  to = renamed(move.to_axes, false);
}

uint32_t MeshParts::axes_mask(uint32_t dims_mask) const {
  uint32_t mask = 0;
  for (size_t m = 0; m < ranges_.size(); ++m) {
    const Range r = ranges_[m];
    const uint32_t own = dims_mask >> r.first & ((1u << r.count) - 1);
    mask |= own == (1u << r.count) - 1 ? 1u << m : own << r.first_part;
  }
  return mask;
}

}  // namespace shw
