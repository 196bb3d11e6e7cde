#include <algorithm>

#include "ops/families.h"
#include "ops/slice.h"

namespace shw::ops {

Result<SliceRange> slice_range(const Attrs& attrs, const Dims& shape) {
  const int64_t given = attrs.get_int(AttrKey::kDim, 0);
  const auto dim = wrap_dim(given, static_cast<int>(shape.size()));
  if (!dim) return invalid_argument("there is no dim " + std::to_string(given) + " to slice");
  const int64_t n = shape[*dim], step = attrs.get_int(AttrKey::kStep, 1);
  if (step < 1)
    return invalid_argument("step is " + std::to_string(step) + ", expected at least 1");
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
  constexpr int64_t kMaxPieces = 1 << 16;
  const int64_t size = attrs.get_int(AttrKey::kSplitSize, n);
  if (size < 1 || n / size >= kMaxPieces)
    return invalid_argument("split_size is " + std::to_string(size) + " for " + std::to_string(n) +
                            " elements");
  for (int64_t at = 0; at < n || at == 0; at += size)
    pieces.sizes.push_back(std::min(size, n - at));
  return pieces;
}

Result<std::vector<OptionalType>> infer_split(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const SplitPieces pieces, split_pieces(*args.attrs, args.in(0).shape));
  std::vector<OptionalType> results;
  for (int64_t size : pieces.sizes) {
    results.push_back(args.in(0));
    results.back()->shape[pieces.dim] = size;
  }
  return results;
}

Result<SelectAt> select_at(const Attrs& attrs, const Dims& shape) {
  const int64_t given = attrs.get_int(AttrKey::kDim, 0);
  const auto dim = wrap_dim(given, static_cast<int>(shape.size()));
  if (!dim) return invalid_argument("there is no dim " + std::to_string(given) + " to select from");
  const int64_t n = shape[*dim], index = attrs.get_int(AttrKey::kIndex, 0);
  if (index < -n || index >= n)
    return invalid_argument("index " + std::to_string(index) + " of the " + std::to_string(n) +
                            " elements of dim " + std::to_string(*dim));
  return SelectAt{*dim, index < 0 ? index + n : index};
}

Result<Dims> shape_before(const OpArgs& args, bool inserted) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  Dims shape = args.in(0).shape;
  const std::vector<int64_t>& sizes = args.attrs->get_ints(AttrKey::kInputSizes);
  const size_t rank = shape.size() + inserted;
  const auto dim = wrap_dim(args.attrs->get_int(AttrKey::kDim, 0), static_cast<int>(rank));
  if (sizes.size() != rank || rank > kMaxRank || !dim || sizes[*dim] < 0)
    return invalid_argument("input_sizes or dim is not that of a tensor of which " +
                            to_string(args.in(0)) + " is the gradient of a part");
  if (inserted)
    shape.insert(*dim, sizes[*dim]);
  else
    shape[*dim] = sizes[*dim];
  return shape;
}

void select_rules(size_t rank, size_t along, size_t part, RuleSet& rules) {
  for (size_t d = 0; d < rank; ++d) {
    if (d == along) continue;
    const Placement whole = shard(d), lacking = shard(d < along ? d : d - 1);
    std::vector<Placement> operands(rules.num_operands(), whole);
    if (part < operands.size()) operands[part] = lacking;
    const std::vector<Placement> results(rules.num_results(),
                                         part < operands.size() ? whole : lacking);
    rules.add(results, operands);
  }
  pass_partials({kPSum, kPAvg, kPMin, kPMax}, rules);
}

}  // namespace shw::ops
