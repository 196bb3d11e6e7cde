#include <algorithm>

#include "ops/families.h"
#include "ops/slice.h"

namespace shw::ops {

Result<SliceRange> slice_range(const Attrs& attrs, const Dims& shape) {
  const int64_t given = attrs.get_int(AttrKey::kDim, 0);
  const auto dim = wrap_dim(given, static_cast<int>(shape.size()));
  if (!dim) return invalid_argument("there is no dim " + std::to_string(given) + " to slice");
  const int64_t n = shape[*dim], step = attrs.get_int(AttrKey::kStep, 1);
  if (step < 1) return invalid_argument("step is " + std::to_string(step) + ", want at least 1");
  // Beyond the dim's size it changes nothing, but could overflow a stride.
  const int64_t stride = std::min(step, std::max<int64_t>(n, 1));
  const auto bound = [n](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + n : at, 0, n); };
  const int64_t start = bound(attrs.get_int(AttrKey::kStart, 0));
  const int64_t end = std::max(start, bound(attrs.get_int(AttrKey::kEnd, n)));
  const int64_t span = end - start;
  return SliceRange{*dim, start, span / step + (span % step != 0), stride};
}

Result<SplitPieces> split_pieces(const Attrs& attrs, const Dims& shape) {
  const int64_t given = attrs.get_int(AttrKey::kDim, 0);
  const auto dim = wrap_dim(given, static_cast<int>(shape.size()));
  if (!dim) return invalid_argument("there is no dim " + std::to_string(given) + " to split");
  const int64_t n = shape[*dim];
  SplitPieces pieces{*dim, attrs.get_ints(AttrKey::kSplitSizes)};
  if (attrs.has(AttrKey::kSplitSizes)) {
    int64_t left = n;
    for (int64_t s : pieces.sizes)
      if (s < 0 || (left -= s) < 0) break;
    if (left != 0 || pieces.sizes.empty())
      return invalid_argument("split_sizes do not add up to the " + std::to_string(n) +
                              " elements of dim " + std::to_string(*dim));
    return pieces;
  }
  constexpr int64_t kMostPieces = 1 << 16;
  const int64_t size = attrs.get_int(AttrKey::kSplitSize, n);
  if (size < 1 || n / size >= kMostPieces)
    return invalid_argument("split_size is " + std::to_string(size) + " for " + std::to_string(n) +
                            " elements");
  for (int64_t at = 0; at < n || at == 0; at += size)
    pieces.sizes.push_back(std::min(size, n - at));
  return pieces;
}

}  // namespace shw::ops
