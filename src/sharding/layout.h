// Mesh, placement, layout: how a tensor is distributed over devices.
//
// A mesh is an n-dimensional grid of ranks, row-major, outermost dim first. A layout has one
// placement per mesh dim:
//   R        replicate: every rank along that mesh dim holds the same data
//   S(d)     shard: tensor dim d is cut into equal blocks along that mesh dim
//   SS(d,f)  strided shard: tensor dim d, of size D, is viewed as [f, D/f] and the second part is
//            cut into equal blocks; a rank holds its block of each of the f groups
//   P(op)    partial: the value is the reduction, by op, of what the ranks along that mesh dim hold
//   M        masked partial: P(sum) of a look-up whose table is cut by rows (embedding, gather)
// If several mesh dims shard one tensor dim, `order` states which cuts first. By default the
// outermost does: with S(0)S(0) on 2×4, rank (i,j) owns block 4i+j of 8. In reversed order it owns
// block 2j+i.
//
// A strided shard arises from a shard of S when a view flattens [B, S] into one dim: SS(d,B). A
// shard of B remains S(d). So if a tensor dim has both kinds, plain shards cut the first part, [f],
// and strided shards the second; f is the same for all of them and refers to the whole tensor.
// Strided shards are always even.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/status.h"
#include "tensor/tensor_type.h"

namespace shw {

inline constexpr int kMaxMeshRank = 6;
inline constexpr int kFirstMeshPart = 16;
inline constexpr int kMaxMeshParts = 16;                // so that a set of axes fits into 32 bits
inline constexpr int64_t kMaxSplitFactor = UINT16_MAX;  // keeps placements at four bytes

// Collectives may also run among parts of a mesh dim. For example, a dim of eight ranks may have
// two parts, 4·2: neighbours along the outer part are two ranks apart, along the inner part one. An
// axis is a mesh dim or a part. Numbers from kFirstMeshPart on are parts, numbered consecutively
// over all dims.
class Mesh {
 public:
  struct Axis {
    std::string name;
    int64_t size;
    // The sizes of the parts, outermost first; their product is `size`. Empty: the dim has no
    // parts.
    std::vector<int64_t> parts = {};
    std::string part_name(size_t part) const { return name + "." + std::to_string(part); }
  };
  // 1 to kMaxMeshRank axes, sizes ≥ 1, distinct non-empty names, at most 2^20 ranks.
  static Result<Mesh> create(std::vector<Axis> axes);
  static Result<Mesh> parse(std::string_view text);  // "dp=8,tp=8"

  int rank() const { return static_cast<int>(axes_.size()); }
  // `axis` is a dim or a part.
  int64_t size(int axis) const { return of(axis).size; }
  const std::string& name(int axis) const { return of(axis).name; }
  int64_t stride(int axis) const { return of(axis).stride; }  // distance of neighbours, in ranks
  int64_t coordinate(int64_t rank, int axis) const {
    return rank / of(axis).stride % of(axis).size;
  }
  bool has_axis(int64_t axis) const;
  // Whether these are axes of the mesh that do not overlap: no axis twice, and no dim together with
  // one of its parts.
  bool are_distinct(std::span<const uint8_t> axes) const;
  const std::vector<Axis>& axes() const { return axes_; }
  int64_t num_ranks() const { return num_ranks_; }
  std::string to_string() const;  // "dp=8,tp=8"

  int num_parts() const { return static_cast<int>(parts_.size()); }
  // The same ranks as a mesh whose dims are the parts, and the dims that have no parts.
  Mesh by_parts() const;
  // The dims of by_parts() that make up these axes, as a bit mask.
  uint32_t mask_by_parts(uint32_t axes_mask) const;

 private:
  struct Counted {
    std::string name;
    int64_t size, stride;
    uint32_t by_parts;  // bit mask of its dims of by_parts()
  };
  const Counted& of(int axis) const {
    return axis < kFirstMeshPart ? dims_[static_cast<size_t>(axis)]
                                 : parts_[static_cast<size_t>(axis - kFirstMeshPart)];
  }
  Status check(const Axis& axis, size_t number) const;
  void count();
  std::vector<Axis> axes_;
  std::vector<Counted> dims_, parts_;
  int64_t num_ranks_ = 1;
};

enum class ReduceOp : uint8_t { kSum = 0, kAvg = 1, kMax = 2, kMin = 3, kProduct = 4 };
std::string_view reduce_op_name(ReduceOp op);

struct Placement {
  enum class Kind : uint8_t { kReplicate = 0, kShard = 1, kPartial = 2, kMasked = 3, kStrided = 4 };
  Kind kind = Kind::kReplicate;
  uint8_t arg = 0;            // shards: the tensor dim; partial: the ReduceOp
  uint16_t split_factor = 0;  // strided shard: f, at least 2; otherwise 0

  static constexpr Placement replicate() { return {}; }
  static constexpr Placement shard(int dim) { return {Kind::kShard, static_cast<uint8_t>(dim)}; }
  // `factor` from 2 to kMaxSplitFactor.
  static constexpr Placement strided(int dim, int64_t factor) {
    return {Kind::kStrided, static_cast<uint8_t>(dim), static_cast<uint16_t>(factor)};
  }
  static constexpr Placement partial(ReduceOp op = ReduceOp::kSum) {
    return {Kind::kPartial, static_cast<uint8_t>(op)};
  }
  static constexpr Placement masked() { return {Kind::kMasked, 0}; }
  constexpr bool is_replicate() const { return kind == Kind::kReplicate; }
  constexpr bool is_shard() const { return kind == Kind::kShard; }
  constexpr bool is_shard(int dim) const { return is_shard() && arg == dim; }
  constexpr bool is_strided() const { return kind == Kind::kStrided; }
  // Whether a tensor dim is cut, by a plain or a strided shard. Most code about shards should use
  // this.
  constexpr bool is_shard_like() const { return is_shard() || is_strided(); }
  constexpr bool is_shard_like(int dim) const { return is_shard_like() && arg == dim; }
  constexpr bool is_partial() const { return kind == Kind::kPartial || kind == Kind::kMasked; }
  constexpr int dim() const { return arg; }
  constexpr int64_t factor() const { return split_factor; }
  constexpr ReduceOp reduce_op() const { return static_cast<ReduceOp>(arg); }
  constexpr bool operator==(const Placement&) const = default;
};

struct Layout {
  std::array<Placement, kMaxMeshRank> placement{};  // beyond the mesh's rank: replicate
  std::array<uint8_t, kMaxMeshRank> order{
      0, 1, 2, 3, 4, 5};  // mesh dims, in the order in which they cut; normalised

  const Placement& operator[](int mesh_dim) const {
    return placement[static_cast<size_t>(mesh_dim)];
  }
  Placement& operator[](int mesh_dim) { return placement[static_cast<size_t>(mesh_dim)]; }
  bool operator==(const Layout&) const = default;
  bool same_placements(const Layout& o) const { return placement == o.placement; }
  bool has_partial() const;
  bool all_replicate() const;
  bool has_strided() const;
  // The mesh dims with plain shards of tensor dim `dim`, in cutting order.
  std::vector<int> shards_of(int dim) const;
};

// Normalises `order`: only the relative order of mesh dims with the same shard (tensor dim, kind
// and factor) is significant; all others are ascending.
void normalise(Layout& layout);
inline Layout normalised(Layout layout) {
  normalise(layout);
  return layout;
}
uint64_t hash_of(const Layout& layout);
struct LayoutHash {  // for hash maps
  size_t operator()(const Layout& layout) const { return hash_of(layout); }
};

// "S(0)R", "S(1)P(avg)", "S(0)SS(0,16)"; "P" is P(sum), "M" masked. A non-default shard order
// follows: "S(0)S(0)|1,0".
std::string to_string(const Layout& layout, int mesh_rank);
Result<Layout> parse_layout(std::string_view text, int mesh_rank);

// Whether the shards can exist, by the reference planner's rule: in mesh dim
// order, the remaining size must be ≥ the mesh dim; it then becomes the ceiling of the quotient.
// Strided shards, which the reference planner lacks, must be even, and so must plain shards of the
// same dim.
bool is_shardable(const Dims& shape, const Layout& layout, const Mesh& mesh);
bool is_evenly_sharded(const Dims& shape, const Layout& layout, const Mesh& mesh);
// Why is_shardable() is false, as a clause; empty: it is true.
std::string why_not_shardable(const Dims& shape, const Layout& layout, const Mesh& mesh);

// Shape of the piece on rank 0: ceiling division, mesh dim by mesh dim.
Dims local_shape(const Dims& shape, const Layout& layout, const Mesh& mesh);

// The offset of the piece of rank `rank` in an evenly sharded tensor, per tensor dim. With strided
// shards the piece is not a box: use the unfolded tensor (unfolding.h).
Dims local_offset(const Dims& shape, const Layout& layout, const Mesh& mesh, int64_t rank);

// The part of a tensor that a rank owns. Block sizes are the ceiling of the quotient at each cut,
// so the last ranks may own less than local_shape(), or nothing. The rest of such a piece, at its
// end, is padding with undefined contents.
struct Block {
  Dims offset, size;
};
Block local_block(const Dims& shape, const Layout& layout, const Mesh& mesh, int64_t rank);
// Whether the mesh dims that shard tensor dim `dim` leave no padding on any rank.
bool cuts_evenly(const Dims& shape, const Layout& layout, const Mesh& mesh, size_t dim);

}  // namespace shw
