// view: the same elements in the same order with another shape, `size`; one entry may be −1.
//
// Sharding follows matching dims: reading both shapes from the left, dims with equal products form
// groups. In a group that flattens, only the first operand dim may stay sharded, and only if the
// mesh dim divides it. In a group that splits, the shard moves to the first result dim, if the mesh
// dim divides that. All other shards are undone on the operand (the node then requests an
// all-gather). Replicated and partial entries pass. This is DTensor's view propagation.
//
// With strided shards enabled, no shard is lost for not being first. A cut is identified by its
// head, the number of elements of the group's dims before it: 1 for the first dim, f more for
// SS(d,f). The result dim with the same head takes the shard as a plain one; the one within which
// the head ends takes it as a strided one.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"size", ParamKind::kInts, kRequired}};

Result<Dims> target_shape(const OpArgs& args) {
  const std::vector<int64_t>& size = args.attrs->get_ints(AttrKey::kSize);
  if (size.size() > kMaxRank) return invalid_argument("the result has more than 8 dims");
  Dims shape(size);
  int64_t known = 1;
  int free = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1 && free < 0) {
      free = static_cast<int>(i);
    } else if (shape[i] < 0 || (shape[i] > 0 && known > (int64_t{1} << 60) / shape[i])) {
      return invalid_argument("size[" + std::to_string(i) + "] is " + std::to_string(shape[i]));
    } else {
      known *= shape[i];
    }
  }
  const int64_t numel = args.in(0).numel();
  if (free >= 0 && known > 0)
    shape[static_cast<size_t>(free)] = numel / known, known *= numel / known;
  if (known != numel)
    return invalid_argument("a view of " + std::to_string(numel) + " elements cannot have " +
                            std::to_string(known));
  return shape;
}

// The strides that make `shape` a view without a copy, as ATen computes them; row-major if there
// are none (a reshape).
Dims view_strides(const TensorType& in, const Dims& shape) {
  Dims strides(shape.size(), 1);
  size_t to = shape.size();
  int64_t chunk = 1, base = 1;
  for (size_t i = in.shape.size(); i-- > 0;) {
    if (chunk == 1) base = in.strides[i];
    chunk *= in.shape[i];
    const bool ends = i == 0 || (in.shape[i - 1] != 1 && in.strides[i - 1] != chunk * base);
    if (!ends) continue;
    int64_t filled = 1;
    while (to > 0 && (filled < chunk || shape[to - 1] == 1)) {
      strides[--to] = filled * base;
      filled *= shape[to];
    }
    if (filled != chunk) return row_major_strides(shape);
    chunk = 1;
  }
  return to == 0 ? strides : row_major_strides(shape);
}

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const Dims shape, target_shape(args));
  return one(TensorType{shape, view_strides(args.in(0), shape), args.in(0).dtype});
}

// For each operand dim, the result dim that its shard moves to and the size that mesh dims must
// divide; none: it cannot stay sharded.
struct Landing {
  int to = -1;
  int64_t must_divide = 0;  // 0: no condition (the dim passes unchanged)
};

std::array<Landing, kMaxRank> landings(const Dims& from, const Dims& to) {
  std::array<Landing, kMaxRank> landing;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && from[i] == 1) {
      ++i;
      continue;
    }  // ignores dims of size 1
    if (j < to.size() && to[j] == 1) {
      ++j;
      continue;
    }
    if (i == from.size() || j == to.size()) break;  // only with empty tensors
    const size_t first_i = i, first_j = j;
    int64_t a = from[i++], b = to[j++];
    while (a != b) {
      if (a < b && i < from.size())
        a *= from[i++];
      else if (b < a && j < to.size())
        b *= to[j++];
      else
        return landing;
    }
    const bool passes = i - first_i == 1 && j - first_j == 1;
    const bool splits = j - first_j > 1;
    landing[first_i] = {static_cast<int>(first_j), passes   ? 0
                                                   : splits ? to[first_j]
                                                            : from[first_i]};
  }
  return landing;
}

// The dims of one side of a group, with the product of the sizes before each.
struct GroupDim {
  size_t dim;
  int64_t head, size;
};

// Groups of dims with equal products, without dims of size 1; incomplete groups are omitted.
struct Group {
  std::vector<GroupDim> from, to;
};

std::vector<Group> groups_of(const Dims& from, const Dims& to) {
  std::vector<Group> groups;
  Group open;
  int64_t a = 1, b = 1;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && (a <= b || j == to.size())) {
      if (from[i] != 1) open.from.push_back({i, a, from[i]});
      a *= from[i++];
    } else {
      if (to[j] != 1) open.to.push_back({j, b, to[j]});
      b *= to[j++];
    }
    if (a != b) continue;
    if (a > 1) groups.push_back(std::exchange(open, {}));
    open = {};
    a = b = 1;
  }
  return groups;
}

// The placement that `mesh_size` cuts of operand dim `p.dim()` become; nullopt: none.
std::optional<Placement> strided_landing(const std::vector<Group>& groups, Placement p,
                                         int64_t mesh_size) {
  for (const Group& g : groups)
    for (const GroupDim& in : g.from) {
      if (in.dim != static_cast<size_t>(p.dim())) continue;
      if (g.from.size() == 1 && g.to.size() == 1) {  // the dim passes, whatever cuts it
        p.arg = static_cast<uint8_t>(g.to[0].dim);
        return p;
      }
      const int64_t factor = p.is_strided() ? p.factor() : 1;
      const int64_t head = in.head * factor;
      if (in.size % factor != 0 || in.size / factor % mesh_size != 0) return std::nullopt;
      for (const GroupDim& out : g.to) {
        if (head % out.head != 0) continue;
        const int64_t rest = head / out.head;
        if (rest >= out.size || out.size % rest != 0 || out.size / rest % mesh_size != 0) continue;
        if (rest == 1) return shard(out.dim);
        if (rest > kMaxSplitFactor) return std::nullopt;
        return Placement::strided(static_cast<int>(out.dim), rest);
      }
      return std::nullopt;
    }
  return std::nullopt;
}

// Mesh dim by mesh dim; a shard that cannot lie beside those before it is undone.
Followed follow_strided(const OpArgs& args, const TensorType& result, const Layout& operand,
                        const Mesh& mesh) {
  const std::vector<Group> groups = groups_of(args.in(0).shape, result.shape);
  Followed f{operand, operand};
  for (int m = 0; m < mesh.rank(); ++m)
    if (operand[m].is_shard_like()) f.operand[m] = f.result[m] = kR;
  for (int m = 0; m < mesh.rank(); ++m) {
    if (!operand[m].is_shard_like()) continue;
    const auto landing = strided_landing(groups, operand[m], mesh.size(m));
    if (!landing) continue;
    f.operand[m] = operand[m];
    f.result[m] = *landing;
    const bool fits =
        (!f.operand.has_strided() || is_evenly_sharded(args.in(0).shape, f.operand, mesh)) &&
        (!f.result.has_strided() || is_evenly_sharded(result.shape, f.result, mesh));
    if (!fits) f.operand[m] = f.result[m] = kR;
  }
  f.operand = normalised(f.operand);
  f.result = normalised(f.result);
  return f;
}

std::optional<Followed> follow(const OpArgs& args, const TensorType& result, const Layout& operand,
                               const Mesh& mesh) {
  if (args.strided) return follow_strided(args, result, operand, mesh);
  const auto landing = landings(args.in(0).shape, result.shape);
  Followed f{operand, operand};
  for (int m = 0; m < mesh.rank(); ++m) {
    if (!operand[m].is_shard()) continue;
    const Landing& l = landing[static_cast<size_t>(operand[m].dim())];
    const bool stays = l.to >= 0 && (l.must_divide == 0 || l.must_divide % mesh.size(m) == 0);
    f.operand[m] = stays ? operand[m] : kR;
    f.result[m] = stays ? Placement::shard(l.to) : kR;
  }
  f.operand = normalised(f.operand);
  f.result = normalised(f.result);
  return f;
}

}  // namespace

extern const OpDef kView;
constinit const OpDef kView = {
    .kind = OpKind::kView,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kFollow,
    .follow = follow,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
