#include "ops/families.h"
#include "ops/index.h"
#include "ops/lookup.h"

namespace shw::ops {

size_t IndexShape::place_of(size_t dim) const {
  size_t before = 0;
  for (size_t d = 0; d < dim; ++d) before += !indexed[d];
  return before < first ? before : before + broadcast.size();
}

Result<IndexShape> index_shape(const OpArgs& args, size_t first_index) {
  const Dims& self = args.in(0).shape;
  const size_t count = args.operands.size() - first_index;
  IndexShape s;
  s.indexed.assign(self.size(), false);
  const std::vector<int64_t>& given = args.attrs->get_ints(AttrKey::kDims);
  if (!given.empty() && given.size() != count)
    return invalid_argument("dims names " + std::to_string(given.size()) + " dims for " +
                            std::to_string(count) + " index tensors");
  for (size_t k = 0; k < count; ++k) {
    const auto dim =
        wrap_dim(given.empty() ? static_cast<int64_t>(k) : given[k], static_cast<int>(self.size()));
    if (!dim || s.indexed[*dim] || (k > 0 && *dim < s.dims.back()))
      return invalid_argument("index tensor " + std::to_string(k) + " has no dim of its own in " +
                              to_string(args.in(0)));
    const TensorType& t = args.in(first_index + k);
    SHW_RETURN_IF_ERROR(want_index_dtype(t));
    s.indexed[*dim] = true;
    s.dims.push_back(*dim);
    while (s.broadcast.size() < t.shape.size()) s.broadcast.insert(0, 1);
    const size_t lacks = s.broadcast.size() - t.shape.size();
    for (size_t d = 0; d < t.shape.size(); ++d) {
      int64_t& to = s.broadcast[lacks + d];
      if (to != 1 && t.shape[d] != 1 && to != t.shape[d])
        return invalid_argument("index tensors do not broadcast: " + to_string(t));
      if (to == 1) to = t.shape[d];
    }
  }
  const bool neighbours = s.dims.back() - s.dims.front() + 1 == s.dims.size();
  s.first = neighbours ? s.dims.front() : 0;
  if (self.size() - s.dims.size() + s.broadcast.size() > kMaxRank)
    return invalid_argument("the result has more than 8 dims");
  for (size_t d = 0; d < self.size(); ++d)
    if (!s.indexed[d]) s.result.push_back(self[d]);
  for (size_t b = 0; b < s.broadcast.size(); ++b) s.result.insert(s.first + b, s.broadcast[b]);
  return s;
}

}  // namespace shw::ops
