#include "redistribution/moves.h"

namespace shw {
namespace {

using Digits = std::array<uint8_t, kMaxMeshRank>;

// Advances to the next number of `size` digits with the given bases; false after the last one.
bool count_up(Digits& digits, size_t size, FunctionRef<size_t(size_t)> base) {
  for (size_t i = 0; i < size; ++i) {
    if (++digits[i] < base(i)) return true;
    digits[i] = 0;
  }
  return false;
}

}  // namespace

Layout with_shards(const Layout& layout, int dim, const Axes& axes) {
  Layout next = layout;
  const uint32_t moved = axes.mask();
  auto place = next.order.begin();
  for (uint8_t m : layout.order)
    if (!(moved >> m & 1)) *place++ = m;
  std::copy(axes.begin(), axes.end(), place);
  for (uint8_t a : axes) next[a] = Placement::shard(dim);
  normalise(next);
  return next;
}

Layout with_replicas(const Layout& layout, const Axes& axes) {
  Layout next = layout;
  for (uint8_t a : axes) next[a] = Placement::replicate();
  normalise(next);
  return next;
}

int64_t MoveMaker::piece_bytes(const Layout& at) const {
  int64_t bytes = element_bytes_;
  for (int64_t n : local_shape(shape_, at, mesh_)) bytes *= n;
  return bytes;
}

int64_t MoveMaker::group_size(const Axes& axes) const {
  int64_t n = 1;
  for (uint8_t a : axes) n *= mesh_.size(a);
  return n;
}

int64_t MoveMaker::size_before(const Axes& cut, size_t k, int d) const {
  int64_t size = shape_[static_cast<size_t>(d)];
  for (size_t i = 0; i < k; ++i) size = (size + mesh_.size(cut[i]) - 1) / mesh_.size(cut[i]);
  return size;
}

bool MoveMaker::can_cut(int64_t size, const Axes& axes) const {
  const int64_t n = group_size(axes);
  return size % n == 0 || (limits_.parts == nullptr && axes.size() == 1 && size >= n);
}

bool MoveMaker::can_slice(int64_t size, const Axes& axes) const {
  if (limits_.parts != nullptr) return can_cut(size, axes);
  for (uint8_t a : axes) {
    if (size < mesh_.size(a)) return false;
    size = (size + mesh_.size(a) - 1) / mesh_.size(a);
  }
  return true;
}

MoveMaker::Cuts MoveMaker::cuts_of(const Layout& at) const {
  Cuts cuts;
  for (uint8_t d = 0; d < shape_.size(); ++d)
    for (uint8_t m : at.order)
      if (m < mesh_.rank() && mesh_.size(m) > 1 && at[m].is_shard(d))
        cuts.axes.push_back(m), ++cuts.of_dim[d];
  for (uint8_t m = 0; m < mesh_.rank(); ++m)
    if (mesh_.size(m) > 1 && at[m].is_replicate()) cuts.axes.push_back(m);
  return cuts;
}

std::optional<MoveMaker::Cuts> MoveMaker::cuts_by(const Axes& order, const Cuts& now) const {
  Cuts cuts{order, {}};
  size_t first = 0, next = 0;
  for (size_t d = 0; d < shape_.size(); ++d) {
    int64_t blocks = 1, made = 1;
    bool same_sizes = true;
    for (size_t i = 0; i < now.of_dim[d]; ++i) blocks *= mesh_.size(now.axes[first + i]);
    for (; made < blocks && next < order.size(); ++next, ++cuts.of_dim[d]) {
      made *= mesh_.size(order[next]);
      same_sizes = same_sizes && cuts.of_dim[d] < now.of_dim[d] &&
                   mesh_.size(order[next]) == mesh_.size(now.axes[first + cuts.of_dim[d]]);
    }
    if (made != blocks) return std::nullopt;
    // If an uneven dim is cut in other steps, its blocks differ.
    if (!same_sizes && shape_[d] % blocks != 0) return std::nullopt;
    first += now.of_dim[d];
  }
  if (!std::is_sorted(order.begin() + next, order.end())) return std::nullopt;
  return cuts;
}

uint32_t MoveMaker::moved_axes(const Axes& from, const Axes& to) const {
  std::array<int64_t, kMaxMeshRank> counts{};  // blocks between neighbours on a mesh dim
  int64_t step = 1;
  for (size_t i = from.size(); i-- > 0; step *= mesh_.size(from[i])) counts[from[i]] = step;
  uint32_t moved = 0;
  step = 1;
  for (size_t i = to.size(); i-- > 0; step *= mesh_.size(to[i]))
    if (counts[to[i]] != step) moved |= 1u << to[i];
  return moved;
}

Layout MoveMaker::with_cuts(const Layout& at, const Cuts& cuts) {
  Layout next = at;
  auto place = next.order.begin();
  size_t i = 0;
  for (size_t d = 0; d < cuts.of_dim.size(); ++d)
    for (size_t k = 0; k < cuts.of_dim[d]; ++k, ++i) {
      next[cuts.axes[i]] = Placement::shard(static_cast<int>(d));
      *place++ = cuts.axes[i];
    }
  for (; i < cuts.axes.size(); ++i) {
    next[cuts.axes[i]] = Placement::replicate();
    *place++ = cuts.axes[i];
  }
  const uint32_t placed = cuts.axes.mask();
  for (uint8_t m = 0; m < kMaxMeshRank; ++m)
    if (!(placed >> m & 1)) *place++ = m;
  normalise(next);
  return next;
}

void MoveMaker::from(const Layout& at, Visit visit) const {
  const Piece piece{at, local_shape(shape_, at, mesh_), piece_bytes(at)};
  for (int d : limits_.dims) leave(piece, d, visit);
  leave_several(piece, visit);
  reduce(piece, visit);
  slice(piece, visit);
}

void MoveMaker::permutes(const Layout& at, Visit visit) const {
  const Piece piece{at, local_shape(shape_, at, mesh_), piece_bytes(at)};
  const Cuts now = cuts_of(at);
  Axes order = Axes::of_mask(now.axes.mask());
  do {
    if (const std::optional<Cuts> cuts = cuts_by(order, now))
      offer_permute(piece, now, *cuts, visit);
  } while (std::next_permutation(order.begin(), order.end()));
}

void MoveMaker::leave(const Piece& p, int d, Visit visit) const {
  Axes cut;
  for (uint8_t m : p.at.order)
    if (p.at[m].is_shard(d)) cut.push_back(m);
  for (size_t k = cut.size(); k-- > 0;) {
    Axes axes;
    for (size_t i = k; i < cut.size(); ++i) axes.push_back(cut[i]);
    const int64_t n = group_size(axes);
    // Several mesh dims at once would leave padding between blocks that are not even.
    if (axes.size() > 1 && size_before(cut, k, d) % n != 0) continue;
    const auto open = [&] { return with_replicas(p.at, axes); };
    const int64_t whole = size_before(cut, k, d);
    if (are_whole(axes)) {
      MoveEdge gather{CollectiveKind::kAllGather, ReduceOp::kSum, d, -1, axes, p.bytes * n};
      join(p.local, gather.bytes, d, n, whole, gather.copies);
      visit(gather, open);
    }
    for (int e : limits_.dims) {
      if (e == d || !can_cut(p.local[static_cast<size_t>(e)], axes)) continue;
      MoveEdge exchange{CollectiveKind::kAllToAll, ReduceOp::kSum, d, e, axes};
      Dims sent = p.local;
      exchange.bytes = split(p, e, n, sent, exchange.copies);
      join(sent, exchange.bytes, d, n, whole, exchange.copies);
      visit(exchange, [&] { return with_shards(open(), e, axes); });
    }
  }
}

void MoveMaker::leave_several(const Piece& p, Visit visit) const {
  struct Cut {
    int dim;
    Axes axes{};
  };
  std::array<Cut, kMaxMeshRank> cuts;
  size_t count = 0;
  for (int d : limits_.dims) {
    Cut cut{d};
    for (uint8_t m : p.at.order)
      if (p.at[m].is_shard(d)) cut.axes.push_back(m);
    if (cut.axes.size() > 0) cuts[count++] = cut;
  }
  if (count < 2) return;
  Digits leaving{};  // per tensor dim: how many of the last mesh dims that cut it leave
  while (count_up(leaving, count, [&](size_t i) { return cuts[i].axes.size() + 1; })) {
    MoveEdge gather{CollectiveKind::kAllGather};
    bool is_possible = true;  // as one collective: blocks are even, and tensor dims few
    for (size_t i = 0; i < count && is_possible; ++i) {
      if (leaving[i] == 0) continue;
      const Cut& cut = cuts[i];
      const size_t stays = cut.axes.size() - leaving[i];
      Axes axes;
      for (size_t k = stays; k < cut.axes.size(); ++k) axes.push_back(cut.axes[k]);
      const int64_t n = group_size(axes);
      is_possible = size_before(cut.axes, stays, cut.dim) % n == 0 &&
                    gather.several.size() < BlocksByDim::kMost;
      if (!is_possible) break;
      for (uint8_t a : axes) gather.axes.push_back(a);
      gather.several.push_back({static_cast<uint8_t>(cut.dim), n});
    }
    if (!is_possible || gather.several.size() < 2 || !are_whole(gather.axes)) continue;
    gather.bytes = p.bytes * group_size(gather.axes);
    if (!outermost(p.local, gather.several[gather.several.size() - 1].dim))
      gather.copies.add(gather.bytes);
    visit(gather, [&] { return with_replicas(p.at, gather.axes); });
  }
}

// Mesh dims that come to the same tensor dim cut it in ascending order.
void MoveMaker::scatter_several(const Piece& p, ReduceOp op, const Axes& axes, Visit visit) const {
  if (axes.size() < 2 || axes.size() > BlocksByDim::kMost) return;
  Digits to{};  // by mesh dim: which of the tensor dims it cuts
  while (count_up(to, axes.size(), [&](size_t) { return limits_.dims.size(); })) {
    MoveEdge scatter{CollectiveKind::kReduceScatter, op};
    Layout after = p.at;
    Dims sent = p.local;
    bool is_even = true;
    for (size_t i = 0; i < limits_.dims.size(); ++i) {
      Axes cut;
      for (size_t k = 0; k < axes.size(); ++k)
        if (to[k] == i) cut.push_back(axes[k]);
      if (cut.size() == 0) continue;
      const int d = limits_.dims[i];
      const int64_t n = group_size(cut);
      is_even = is_even && sent[static_cast<size_t>(d)] % n == 0;
      sent[static_cast<size_t>(d)] /= n;
      for (uint8_t a : cut) scatter.axes.push_back(a);
      scatter.several.push_back({static_cast<uint8_t>(d), n});
      after = with_shards(after, d, cut);
    }
    if (!is_even || scatter.several.size() < 2) continue;
    scatter.bytes = p.bytes;
    if (!outermost(sent, scatter.several[scatter.several.size() - 1].dim))
      scatter.copies.add(scatter.bytes);
    visit(scatter, [&] { return after; });
  }
}

void MoveMaker::reduce(const Piece& p, Visit visit) const {
  for (int o = 0; o <= static_cast<int>(ReduceOp::kProduct); ++o) {
    const auto op = static_cast<ReduceOp>(o);
    uint32_t partial = 0;
    for (uint8_t m = 0; m < mesh_.rank(); ++m)
      if (p.at[m] == Placement::partial(op)) partial |= 1u << m;
    for (uint32_t set = partial; set != 0; set = (set - 1) & partial) {
      const Axes axes = Axes::of_mask(set);
      if (!are_whole(axes)) continue;
      visit(MoveEdge{CollectiveKind::kAllReduce, op, -1, -1, axes, p.bytes},
            [&] { return with_replicas(p.at, axes); });
      const auto can = [&](int64_t size, const Axes& order) { return can_cut(size, order); };
      for_each_cut(axes, p.local, can, [&](int e, const Axes& order) {
        MoveEdge scatter{CollectiveKind::kReduceScatter, op, -1, e, order};
        Dims sent = p.local;
        scatter.bytes = split(p, e, group_size(order), sent, scatter.copies);
        visit(scatter, [&] { return with_shards(p.at, e, order); });
      });
      scatter_several(p, op, axes, visit);
    }
  }
}

void MoveMaker::slice(const Piece& p, Visit visit) const {
  uint32_t whole = 0;
  for (uint8_t m = 0; m < mesh_.rank(); ++m)
    if (p.at[m].is_replicate() && mesh_.size(m) > 1) whole |= 1u << m;
  const auto can = [&](int64_t size, const Axes& order) { return can_slice(size, order); };
  for (uint32_t set = whole; set != 0; set = (set - 1) & whole) {
    const Axes axes = Axes::of_mask(set);
    for_each_cut(axes, p.local, can, [&](int e, const Axes& order) {
      int64_t size = p.local[static_cast<size_t>(e)];
      for (uint8_t m : order) size = (size + mesh_.size(m) - 1) / mesh_.size(m);
      visit(MoveEdge{CollectiveKind::kNone, ReduceOp::kSum, -1, e, order, 0,
                     CopyBytes(bytes_with(p.local, e, size))},
            [&] { return with_shards(p.at, e, order); });
    });
  }
}

void MoveMaker::offer_permute(const Piece& p, const Cuts& from, const Cuts& to, Visit visit) const {
  MoveEdge move{CollectiveKind::kPermute, ReduceOp::kSum, -1, -1, {}, p.bytes};
  // A mesh dim along which the blocks are numbered the same before and after is not part of the
  // group.
  const uint32_t moved = moved_axes(from.axes, to.axes);
  if (moved == 0) return;
  for (uint8_t a : from.axes)
    if (moved >> a & 1) move.axes.push_back(a);
  for (uint8_t a : to.axes)
    if (moved >> a & 1) move.to_axes.push_back(a);
  visit(move, [&] { return with_cuts(p.at, to); });
}

void MoveMaker::for_each_cut(const Axes& axes, const Dims& local,
                             FunctionRef<bool(int64_t size, const Axes& order)> can,
                             FunctionRef<void(int dim, const Axes& order)> f) const {
  for (int e : limits_.dims) {
    const int64_t size = local[static_cast<size_t>(e)];
    if (axes.size() > 2 && limits_.toward != nullptr) {
      if (can(size, axes)) f(e, axes);
      Axes other;
      for (uint8_t m : limits_.toward->order)
        if (axes.has(m)) other.push_back(m);
      if (!(other == axes) && can(size, other)) f(e, other);
      continue;
    }
    Axes order = axes;
    do
      if (can(size, order)) f(e, order);
    while (std::next_permutation(order.begin(), order.end()));
  }
}

int64_t CollectivePrices::group_size(uint32_t mask) const {
  int64_t n = 1;
  for (int m = 0; m < mesh_.rank(); ++m)
    if (mask >> m & 1) n *= mesh_.size(m);
  return n;
}

// Whether the split would separate parts of one dim: some in `part`, others in the rest of `mask`.
bool CollectivePrices::takes_apart(uint32_t part, uint32_t mask) const {
  for (uint32_t left = part; parts_ != nullptr && left != 0; left &= left - 1)
    if (((*parts_)[static_cast<size_t>(std::countr_zero(left))] & mask & ~part) != 0) return true;
  return false;
}

double CollectivePrices::us(CollectiveKind kind, uint32_t mask, int64_t bytes) {
  constexpr size_t kSlots = 1 << 10;
  if (memo_.empty()) memo_.resize(kSlots, {~uint64_t{0}, 0});
  const uint64_t key = static_cast<uint64_t>(bytes) << 12 | static_cast<uint64_t>(kind) << 8 | mask;
  const size_t slot = (key * 0x9E3779B97F4A7C15u) >> 54;
  if (memo_[slot].first == key) return memo_[slot].second;
  double best = prices_.collective_us(kind, mask, bytes);
  if (kind == CollectiveKind::kPermute) {  // its parts are separate moves
    memo_[slot] = {key, best};
    return best;
  }
  for (uint32_t part = (mask - 1) & mask; part != 0; part = (part - 1) & mask) {
    const uint32_t rest = mask & ~part;
    if (takes_apart(part, mask)) continue;
    const bool exchanges = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllToAll;
    const int64_t less = exchanges ? bytes : bytes / group_size(rest);
    best = std::min(best, us(kind, part, less) + us(kind, rest, bytes));
  }
  memo_[slot] = {key, best};
  return best;
}

}  // namespace shw
