#include "sharding/layout.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <type_traits>

#include "sharding/unfolding.h"
#include "support/hash.h"

namespace shw {
namespace {

constexpr int64_t kMaxRanks = int64_t{1} << 20;
constexpr std::array<std::string_view, 5> kReduceNames = {"sum", "avg", "max", "min", "product"};

std::optional<int64_t> parse_int(std::string_view s) {
  int64_t v = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return v;
}

// Parses one placement and removes it from the front of `s`.
std::optional<Placement> parse_placement(std::string_view& s) {
  if (s.empty()) return std::nullopt;
  const char letter = s.front();
  s.remove_prefix(1);
  const bool strided = letter == 'S' && !s.empty() && s.front() == 'S';
  if (strided) s.remove_prefix(1);
  std::string_view arg;
  if (!s.empty() && s.front() == '(') {
    const size_t close = s.find(')');
    if (close == std::string_view::npos) return std::nullopt;
    arg = s.substr(1, close - 1);
    s.remove_prefix(close + 1);
  }
  if (letter == 'R' && arg.empty()) return Placement::replicate();
  if (letter == 'M' && arg.empty()) return Placement::masked();
  if (letter == 'S') {
    const size_t comma = strided ? arg.find(',') : arg.size();
    if (comma == std::string_view::npos) return std::nullopt;
    const auto dim = parse_int(arg.substr(0, comma));
    if (!dim || *dim < 0 || *dim >= kMaxRank) return std::nullopt;
    if (!strided) return Placement::shard(static_cast<int>(*dim));
    const auto factor = parse_int(arg.substr(comma + 1));
    if (!factor || *factor < 2 || *factor > kMaxSplitFactor) return std::nullopt;
    return Placement::strided(static_cast<int>(*dim), *factor);
  }
  if (letter == 'P') {
    if (arg.empty()) return Placement::partial();
    for (size_t i = 0; i < kReduceNames.size(); ++i)
      if (kReduceNames[i] == arg) return Placement::partial(static_cast<ReduceOp>(i));
  }
  return std::nullopt;
}

}  // namespace

Status Mesh::check(const Axis& a, size_t number) const {
  if (a.name.empty())
    return invalid_argument("mesh dim " + std::to_string(number) + " has no name: write NAME=SIZE");
  if (std::ranges::any_of(axes_, [&](const Axis& other) { return other.name == a.name; }))
    return invalid_argument("mesh dim '" + a.name + "' is named twice");
  if (a.size < 1 || a.size > kMaxRanks || num_ranks_ * a.size > kMaxRanks)
    return invalid_argument("mesh dim '" + a.name + "' of size " + std::to_string(a.size) +
                            ": sizes are at least 1, and a mesh has at most 2^20 ranks");
  int64_t left = a.size;
  for (int64_t part : a.parts) left = part > 1 && left % part == 0 ? left / part : 0;
  if (!a.parts.empty() && left != 1)
    return invalid_argument("mesh dim '" + a.name + "': its size is not the product of its parts");
  return {};
}

Result<Mesh> Mesh::create(std::vector<Axis> axes) {
  if (axes.empty() || axes.size() > kMaxMeshRank)
    return invalid_argument("a mesh has 1 to " + std::to_string(kMaxMeshRank) + " dims, not " +
                            std::to_string(axes.size()));
  Mesh mesh;
  size_t parts = 0;
  for (Axis& axis : axes) {
    SHW_RETURN_IF_ERROR(mesh.check(axis, mesh.axes_.size()));
    mesh.num_ranks_ *= axis.size;
    parts += axis.parts.size();
    mesh.axes_.push_back(std::move(axis));
  }
  if (parts > kMaxMeshParts)
    return invalid_argument("the dims of a mesh have at most " + std::to_string(kMaxMeshParts) +
                            " parts, not " + std::to_string(parts));
  mesh.count();
  return mesh;
}

void Mesh::count() {
  int64_t stride = num_ranks_;
  uint32_t next = 0;  // dim of by_parts()
  for (const Axis& a : axes_) {
    const uint32_t first = next;
    int64_t within = stride;
    for (size_t i = 0; i < a.parts.size(); ++i) {
      within /= a.parts[i];
      parts_.push_back({a.part_name(i), a.parts[i], within, 1u << next++});
    }
    next += a.parts.empty();
    stride /= a.size;
    dims_.push_back({a.name, a.size, stride, (1u << next) - (1u << first)});
  }
}

bool Mesh::has_axis(int64_t axis) const {
  return axis >= 0 &&
         (axis < rank() || (axis >= kFirstMeshPart && axis < kFirstMeshPart + num_parts()));
}

bool Mesh::are_distinct(std::span<const uint8_t> axes) const {
  uint32_t seen = 0;  // by parts
  for (uint8_t axis : axes) {
    if (!has_axis(axis) || (seen & of(axis).by_parts) != 0) return false;
    seen |= of(axis).by_parts;
  }
  return true;
}

Mesh Mesh::by_parts() const {
  Mesh mesh;
  for (size_t d = 0; d < axes_.size(); ++d) {
    if (axes_[d].parts.empty()) mesh.axes_.push_back(axes_[d]);
    for (const Counted& part : parts_)
      if (part.by_parts & dims_[d].by_parts) mesh.axes_.push_back({part.name, part.size});
  }
  mesh.num_ranks_ = num_ranks_;
  mesh.count();
  return mesh;
}

uint32_t Mesh::mask_by_parts(uint32_t axes_mask) const {
  uint32_t mask = 0;
  for (; axes_mask != 0; axes_mask &= axes_mask - 1)
    mask |= of(std::countr_zero(axes_mask)).by_parts;
  return mask;
}

Result<Mesh> Mesh::parse(std::string_view text) {
  std::vector<Axis> axes;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const size_t equals = item.find('=');
    const auto size =
        equals == std::string_view::npos ? std::nullopt : parse_int(item.substr(equals + 1));
    if (!size)
      return invalid_argument("mesh '" + std::string(item) +
                              "': write NAME=SIZE,…, such as dp=8,tp=8");
    axes.push_back({std::string(item.substr(0, equals)), *size});
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return create(std::move(axes));
}

std::string Mesh::to_string() const {
  std::string s;
  for (const Axis& a : axes_) s += (s.empty() ? "" : ",") + a.name + "=" + std::to_string(a.size);
  return s;
}

std::string_view reduce_op_name(ReduceOp op) { return kReduceNames[static_cast<size_t>(op)]; }

bool Layout::has_partial() const {
  return std::any_of(placement.begin(), placement.end(),
                     [](Placement p) { return p.is_partial(); });
}

bool Layout::all_replicate() const {
  return std::all_of(placement.begin(), placement.end(),
                     [](Placement p) { return p.is_replicate(); });
}

bool Layout::has_strided() const {
  return std::any_of(placement.begin(), placement.end(),
                     [](Placement p) { return p.is_strided(); });
}

std::vector<int> Layout::shards_of(int dim) const {
  std::vector<int> dims;
  for (uint8_t m : order)
    if (placement[m].is_shard(dim)) dims.push_back(m);
  return dims;
}

void normalise(Layout& layout) {
  constexpr std::array<uint8_t, kMaxMeshRank> kAscending{0, 1, 2, 3, 4, 5};
  if (layout.order == kAscending) return;
  // Mesh dims with the same shard keep their relative order, but occupy the positions that
  // ascending order would give them.
  uint32_t shards = 0;
  for (int m = 0; m < kMaxMeshRank; ++m) shards |= uint32_t{layout[m].is_shard_like()} << m;
  std::array<uint8_t, kMaxMeshRank> order = kAscending;
  uint32_t free_places = shards;
  for (const uint8_t of : layout.order) {
    if (!(shards >> of & 1)) continue;
    uint32_t places = free_places;
    while (layout[std::countr_zero(places)] != layout[of]) places &= places - 1;
    order[static_cast<size_t>(std::countr_zero(places))] = of;
    free_places &= ~(places & -places);
  }
  layout.order = order;
}

// Hashed and compared millions of times: keep it small and free of padding.
static_assert(sizeof(Placement) == 4 && std::has_unique_object_representations_v<Layout>);
uint64_t hash_of(const Layout& layout) { return hash_bytes(&layout, sizeof layout); }

std::string to_string(const Layout& layout, int mesh_rank) {
  std::string s;
  for (int m = 0; m < mesh_rank; ++m) {
    const Placement p = layout[m];
    switch (p.kind) {
      case Placement::Kind::kReplicate:
        s += 'R';
        break;
      case Placement::Kind::kShard:
        s += "S(" + std::to_string(p.arg) + ")";
        break;
      case Placement::Kind::kStrided:
        s += "SS(" + std::to_string(p.arg) + "," + std::to_string(p.factor()) + ")";
        break;
      case Placement::Kind::kMasked:
        s += 'M';
        break;
      case Placement::Kind::kPartial:
        s += 'P';
        if (p.reduce_op() != ReduceOp::kSum)
          s += "(" + std::string(reduce_op_name(p.reduce_op())) + ")";
        break;
    }
  }
  const Layout n = normalised(layout);
  if (n.order != Layout{}.order) {
    s += '|';
    for (int m = 0; m < mesh_rank; ++m)
      s += (m ? "," : "") + std::to_string(n.order[static_cast<size_t>(m)]);
  }
  return s;
}

Result<Layout> parse_layout(std::string_view text, int mesh_rank) {
  const auto refuse = [&](const std::string& why) {
    return invalid_argument(
        "layout '" + std::string(text) + "': " + why +
        "; write one of R, S(dim), SS(dim,factor), P, P(avg|max|min|product) for each of the " +
        std::to_string(mesh_rank) + " mesh dims, such as S(0)R");
  };
  Layout layout;
  std::string_view rest = text.substr(0, text.find('|'));
  for (int m = 0; m < mesh_rank; ++m) {
    const auto p = parse_placement(rest);
    if (!p) return refuse("placement " + std::to_string(m) + " is missing or unknown");
    layout[m] = *p;
  }
  if (!rest.empty()) return refuse("it has more placements than the mesh has dims");
  if (const size_t bar = text.find('|'); bar != std::string_view::npos) {
    rest = text.substr(bar + 1);
    uint32_t seen = 0;
    for (int i = 0; i < mesh_rank; ++i) {
      const size_t comma = rest.find(',');
      const auto m = parse_int(rest.substr(0, comma));
      if (!m || *m < 0 || *m >= mesh_rank || (seen >> *m & 1))
        return refuse("the shard order after '|' is not a permutation of the mesh dims");
      seen |= 1u << *m;
      layout.order[static_cast<size_t>(i)] = static_cast<uint8_t>(*m);
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    if (!rest.empty()) return refuse("the shard order has more entries than the mesh has dims");
  }
  return normalised(layout);
}

bool is_shardable(const Dims& shape, const Layout& layout, const Mesh& mesh) {
  if (layout.has_strided()) return is_evenly_sharded(shape, layout, mesh);
  Dims left = shape;
  for (int m = 0; m < mesh.rank(); ++m) {
    if (!layout[m].is_shard()) continue;
    const auto d = static_cast<size_t>(layout[m].dim());
    if (d >= left.size() || left[d] < mesh.size(m)) return false;
    left[d] = (left[d] + mesh.size(m) - 1) / mesh.size(m);
  }
  return true;
}

std::string why_not_shardable(const Dims& shape, const Layout& layout, const Mesh& mesh) {
  if (is_shardable(shape, layout, mesh)) return "";
  std::vector<int64_t> blocks(shape.size(), 1);
  for (int m = 0; m < mesh.rank(); ++m) {
    if (!layout[m].is_shard_like()) continue;
    const auto d = static_cast<size_t>(layout[m].dim());
    if (d >= shape.size())
      return "there is no dim " + std::to_string(d) + " in a tensor of " +
             std::to_string(shape.size()) + (shape.size() == 1 ? " dim" : " dims");
    blocks[d] *= mesh.size(m);
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    Layout alone = layout;
    for (Placement& p : alone.placement)
      if (!p.is_shard_like(static_cast<int>(d))) p = Placement::replicate();
    if (is_shardable(shape, normalised(alone), mesh)) continue;
    return std::to_string(shape[d]) + (shape[d] == 1 ? " element" : " elements") + " of dim " +
           std::to_string(d) + " cannot be cut into " + std::to_string(blocks[d]) +
           (alone.has_strided() ? " equal strided blocks" : " blocks");
  }
  return "its strided shards contradict each other";
}

bool is_evenly_sharded(const Dims& shape, const Layout& layout, const Mesh& mesh) {
  if (layout.has_strided()) {
    const auto unfolding = Unfolding::of(shape, mesh, {layout});
    return unfolding && is_evenly_sharded(unfolding->shape(), unfolding->unfolded(layout), mesh);
  }
  Dims left = shape;
  for (int m = 0; m < mesh.rank(); ++m) {
    if (!layout[m].is_shard()) continue;
    const auto d = static_cast<size_t>(layout[m].dim());
    if (d >= left.size() || left[d] % mesh.size(m) != 0) return false;
    left[d] /= mesh.size(m);
  }
  return true;
}

Dims local_shape(const Dims& shape, const Layout& layout, const Mesh& mesh) {
  Dims local = shape;
  for (int m = 0; m < mesh.rank(); ++m)
    if (layout[m].is_shard_like()) {
      int64_t& size = local[static_cast<size_t>(layout[m].dim())];
      size = (size + mesh.size(m) - 1) / mesh.size(m);
    }
  return local;
}

Dims local_offset(const Dims& shape, const Layout& layout, const Mesh& mesh, int64_t rank) {
  return local_block(shape, layout, mesh, rank).offset;
}

Block local_block(const Dims& shape, const Layout& layout, const Mesh& mesh, int64_t rank) {
  Block b{Dims(shape.size(), 0), shape};
  Dims common =
      shape;  // the shape of every rank's piece including padding, which the next cut divides
  for (uint8_t m : layout.order) {
    if (m >= mesh.rank() || !layout[m].is_shard()) continue;
    const auto d = static_cast<size_t>(layout[m].dim());
    const int64_t n = mesh.size(m), block = (common[d] + n - 1) / n;
    common[d] = block;
    const int64_t start = std::min(b.size[d], mesh.coordinate(rank, m) * block);
    b.offset[d] += start;
    b.size[d] = std::min(block, b.size[d] - start);
  }
  return b;
}

bool cuts_evenly(const Dims& shape, const Layout& layout, const Mesh& mesh, size_t dim) {
  Layout own = layout;
  for (Placement& p : own.placement)
    if (!p.is_shard_like(static_cast<int>(dim))) p = Placement::replicate();
  return is_evenly_sharded(shape, own, mesh);
}

}  // namespace shw
