// The moves that are possible from one layout. Each is one collective, or a copy:
//
//   gather      S(d) → R      the mesh dims that cut d last, any number of them at once
//   all-to-all  S(d) → S(e)   the same; they then cut e last, in the order they had
//   scatter     P → S(e)      any set of mesh dims at once, in any order
//   reduce      P → R         any set of mesh dims at once
//   slice       R → S(e)      any set of mesh dims at once: no communication
//   permute                   mesh dims take over from each other what they cut, where blocks and
//                             their number stay the same: S(0)S(1) → S(1)S(0), S(0)R → RS(0)
//
// If all blocks are even, a gather can make several tensor dims whole, S(0)S(1) → RR, and a scatter
// can cut several, PP → S(0)S(1). This is one collective over all these mesh dims, and one copy.
//
// A rank must hold one block at all times. So a mesh dim can stop cutting a tensor dim only
// together with the mesh dims that cut that dim after it. The members of the group are numbered by
// the shard order.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <optional>
#include <vector>

#include "redistribution/move_prices.h"
#include "sharding/layout.h"
#include "support/function_ref.h"

namespace shw {

// An ordered list of a few mesh dims.
class Axes {
 public:
  Axes() = default;
  Axes(std::initializer_list<uint8_t> list) {
    for (uint8_t a : list) push_back(a);
  }
  static Axes of_mask(uint32_t mask) {  // ascending
    Axes axes;
    for (; mask != 0; mask &= mask - 1)
      axes.push_back(static_cast<uint8_t>(std::countr_zero(mask)));
    return axes;
  }
  uint32_t mask() const {
    uint32_t mask = 0;
    for (uint8_t a : *this) mask |= 1u << a;
    return mask;
  }
  void push_back(uint8_t a) { axes_[size_++] = a; }
  size_t size() const { return size_; }
  uint8_t operator[](size_t i) const { return axes_[i]; }
  uint8_t* begin() { return axes_.data(); }
  uint8_t* end() { return axes_.data() + size_; }
  const uint8_t* begin() const { return axes_.data(); }
  const uint8_t* end() const { return axes_.data() + size_; }
  bool has(uint8_t a) const { return std::find(begin(), end(), a) != end(); }
  bool operator==(const Axes& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }

 private:
  std::array<uint8_t, kMaxMeshRank> axes_{};
  uint8_t size_ = 0;
};

// `layout` with `axes` cutting tensor dim `dim`, in that order, after all mesh dims that cut it
// already.
Layout with_shards(const Layout& layout, int dim, const Axes& axes);
Layout with_replicas(const Layout& layout, const Axes& axes);

// The bytes of each copy that a move makes in addition to its collective.
class CopyBytes {
 public:
  CopyBytes() = default;
  explicit CopyBytes(int64_t bytes) { add(bytes); }
  void add(int64_t bytes) { bytes_[size_++] = bytes; }
  double us(const MovePrices& prices) const {
    double us = 0;
    for (uint8_t i = 0; i < size_; ++i) us += prices.copy_us(bytes_[i]);
    return us;
  }

 private:
  std::array<int64_t, 4> bytes_{};
  uint8_t size_ = 0;
};

// A tensor dim, and the number of blocks into which it is cut.
struct DimBlocks {
  uint8_t dim = 0;
  int64_t blocks = 1;
};

// The blocks of a few tensor dims, ascending. All blocks together are numbered like the members of
// the group, with the last dim varying fastest.
class BlocksByDim {
 public:
  static constexpr size_t kMost = 3;  // with the dims between them, a copy has 2n + 1 dims
  void push_back(DimBlocks b) { list_[size_++] = b; }
  size_t size() const { return size_; }
  DimBlocks operator[](size_t i) const { return list_[i]; }
  const DimBlocks* begin() const { return list_.data(); }
  const DimBlocks* end() const { return list_.data() + size_; }

 private:
  std::array<DimBlocks, kMost> list_{};
  uint8_t size_ = 0;
};

// A move before its price is known. `bytes`: those that determine the price of the collective
// (MovePrices).
struct MoveEdge {
  CollectiveKind kind = CollectiveKind::kNone;
  ReduceOp op = ReduceOp::kSum;
  int from_dim = -1, to_dim = -1;  // -1: none, or those of `several`
  Axes axes{};
  int64_t bytes = 0;
  CopyBytes copies{};
  Axes to_axes{};         // permute
  BlocksByDim several{};  // gather, scatter: two tensor dims or more
};

// By mesh dim d: a bit mask of the parts of the same dim, including d (mesh_parts.h). Gathers and
// reductions always use whole dims. Part by part they would send as much; the collective library
// should decide which way is faster.
using Siblings = std::array<uint32_t, kMaxMeshRank>;
inline bool has_whole_dims(const Siblings& siblings, uint32_t mask) {
  for (uint32_t left = mask; left != 0; left &= left - 1)
    if ((siblings[static_cast<size_t>(std::countr_zero(left))] & ~mask) != 0) return false;
  return true;
}

// Lists the moves of values of one type, within limits on the tensor dims that may be cut and on
// the orders of mesh dims.
class MoveMaker {
 public:
  struct Limits {
    std::vector<int> dims{};  // tensor dims that may be cut
    // If more than two mesh dims come to cut one tensor dim, the order to try in addition to the
    // ascending one; null: all orders.
    const Layout* toward = nullptr;
    const Siblings* parts = nullptr;  // of a mesh by parts, which cut evenly
  };
  // Everything passed by reference or pointer must outlive it.
  MoveMaker(const Mesh& mesh, const Dims& shape, int64_t element_bytes, Limits limits)
      : mesh_(mesh), shape_(shape), element_bytes_(element_bytes), limits_(std::move(limits)) {}

  int64_t piece_bytes(const Layout& at) const;

  // `after` returns the layout after the move.
  using Visit = FunctionRef<void(const MoveEdge& move, FunctionRef<Layout()> after)>;
  // All moves but permutes.
  void from(const Layout& at, Visit visit) const;

  // The permutes: one for each other way in which the mesh dims that are not partial can cut the
  // tensor into the same blocks.
  void permutes(const Layout& at, Visit visit) const;

 private:
  struct Piece {
    const Layout& at;
    Dims local;
    int64_t bytes;
  };

  // All mesh dims of more than one rank that are not partial: first those that cut tensor dim 0, in
  // their order, then those that cut tensor dim 1, and so on. Replicated ones are last, ascending.
  struct Cuts {
    Axes axes{};
    std::array<uint8_t, kMaxRank> of_dim{};  // how many cut each tensor dim
  };
  Cuts cuts_of(const Layout& at) const;
  // Assigns these axes to the tensor dims so that each dim is cut into as many blocks as by `now`.
  // nullopt: that is not possible, or the replicated axes are not ascending.
  std::optional<Cuts> cuts_by(const Axes& order, const Cuts& now) const;
  uint32_t moved_axes(const Axes& from, const Axes& to) const;
  static Layout with_cuts(const Layout& at, const Cuts& cuts);

  bool are_whole(const Axes& axes) const {
    return limits_.parts == nullptr || has_whole_dims(*limits_.parts, axes.mask());
  }
  int64_t group_size(const Axes& axes) const;
  // The size of tensor dim d after the first k axes of `cut` have cut it.
  int64_t size_before(const Axes& cut, size_t k, int d) const;
  // Whether one collective can cut a dim of this size. A single mesh dim may leave padding at the
  // end.
  bool can_cut(int64_t size, const Axes& axes) const;
  // Whether copies can cut a dim of this size axis by axis: each cut needs enough elements.
  bool can_slice(int64_t size, const Axes& axes) const;
  // Blocks of dim `dim` need no copy if all dims before it have size 1.
  static bool outermost(const Dims& local, int dim) {
    return std::all_of(local.begin(), local.begin() + dim, [](int64_t n) { return n == 1; });
  }

  // The bytes of a piece if dim `dim` had this size.
  int64_t bytes_with(const Dims& local, int dim, int64_t size) const {
    int64_t bytes = element_bytes_ * size;
    for (size_t d = 0; d < local.size(); ++d)
      if (d != static_cast<size_t>(dim)) bytes *= local[d];
    return bytes;
  }

  // Prepares a piece to be sent by a collective that cuts its dim `e` into n blocks. The blocks
  // must be consecutive in memory (lowering/transfer.cc) and equal, with padding at the end; adds
  // the copies for this. `sent`: the shape of one block. Returns the bytes of all blocks.
  int64_t split(const Piece& p, int e, int64_t n, Dims& sent, CopyBytes& copies) const {
    const auto at = static_cast<size_t>(e);
    sent[at] = (p.local[at] + n - 1) / n;
    const int64_t bytes = bytes_with(p.local, e, sent[at] * n);
    if (bytes != p.bytes) copies.add(bytes);
    if (!outermost(p.local, e)) copies.add(bytes);
    return bytes;
  }
  // Adds the copies that join n blocks of shape `local`, together `bytes` bytes, along dim `d`, and
  // remove the padding after its `whole` elements.
  static void join(const Dims& local, int64_t bytes, int d, int64_t n, int64_t whole,
                   CopyBytes& copies) {
    if (outermost(local, d)) return;
    const int64_t padded = local[static_cast<size_t>(d)] * n;
    copies.add(bytes);
    if (padded != whole) copies.add(bytes / padded * whole);
  }

  // Gathers and all-to-alls that make tensor dim `d` whole along the mesh dims that cut it last.
  void leave(const Piece& p, int d, Visit visit) const;
  // Gathers that make several tensor dims whole.
  void leave_several(const Piece& p, Visit visit) const;

  void reduce(const Piece& p, Visit visit) const;
  // Scatters of partial mesh dims over several tensor dims.
  void scatter_several(const Piece& p, ReduceOp op, const Axes& axes, Visit visit) const;

  void slice(const Piece& p, Visit visit) const;

  void offer_permute(const Piece& p, const Cuts& from, const Cuts& to, Visit visit) const;

  // Calls `f` for every tensor dim that the set of mesh dims can cut, with each order worth trying.
  // For two mesh dims these are both orders; for more, see Limits.
  void for_each_cut(const Axes& axes, const Dims& local,
                    FunctionRef<bool(int64_t size, const Axes& order)> can,
                    FunctionRef<void(int dim, const Axes& order)> f) const;

  const Mesh& mesh_;
  const Dims& shape_;
  const int64_t element_bytes_;
  const Limits limits_;
};

// µs of a move's collective. It may run as one, or part by part; the price is that of the cheapest
// way. Part by part, the first steps of a gather and the last steps of a scatter have fewer bytes.
// Prices are cached.
class CollectivePrices {
 public:
  // `parts`: as in MoveMaker::Limits; whole dims are not divided.
  CollectivePrices(const Mesh& mesh, const MovePrices& prices, const Siblings* parts = nullptr)
      : mesh_(mesh), prices_(prices), parts_(parts) {}
  double us(CollectiveKind kind, uint32_t axes_mask, int64_t bytes);

 private:
  int64_t group_size(uint32_t mask) const;
  bool takes_apart(uint32_t part, uint32_t mask) const;
  const Mesh& mesh_;
  const MovePrices& prices_;
  const Siblings* const parts_;
  std::vector<std::pair<uint64_t, double>> memo_;  // direct-mapped
};

}  // namespace shw
