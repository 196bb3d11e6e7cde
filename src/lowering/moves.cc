#include "lowering/moves.h"

namespace shw {

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
  return size % n == 0 || (axes.size() == 1 && size >= n);
}

bool MoveMaker::can_slice(int64_t size, const Axes& axes) const {
  for (uint8_t a : axes) {
    if (size < mesh_.size(a)) return false;
    size = (size + mesh_.size(a) - 1) / mesh_.size(a);
  }
  return true;
}

int64_t CollectivePrices::group_size(uint32_t mask) const {
  int64_t n = 1;
  for (int m = 0; m < mesh_.rank(); ++m)
    if (mask >> m & 1) n *= mesh_.size(m);
  return n;
}

double CollectivePrices::us(CollectiveKind kind, uint32_t mask, int64_t bytes) {
  constexpr size_t kSlots = 1 << 10;
  if (memo_.empty()) memo_.resize(kSlots, {~uint64_t{0}, 0});
  const uint64_t key = static_cast<uint64_t>(bytes) << 12 | static_cast<uint64_t>(kind) << 8 | mask;
  const size_t slot = (key * 0x9E3779B97F4A7C15u) >> 54;
  if (memo_[slot].first == key) return memo_[slot].second;
  double best = prices_.collective_us(kind, mask, bytes);
  for (uint32_t part = (mask - 1) & mask; part != 0; part = (part - 1) & mask) {
    const uint32_t rest = mask & ~part;
    const bool exchanges = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllToAll;
    const int64_t less = exchanges ? bytes : bytes / group_size(rest);
    best = std::min(best, us(kind, part, less) + us(kind, rest, bytes));
  }
  memo_[slot] = {key, best};
  return best;
}

}  // namespace shw
