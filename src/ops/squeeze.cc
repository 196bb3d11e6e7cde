// squeeze: removes the dims of size 1 named by `dim` or `dims`, or all such; larger dims stay.
#include "ops/squeeze.h"

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"self", ParamKind::kTensor}, {"dim", ParamKind::kInt}, {"dims", ParamKind::kInts}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const auto gone, squeezed_dims(*args.attrs, args.in(0).shape));
  TensorType type{{}, {}, args.in(0).dtype};
  for (size_t d = 0; d < gone.size(); ++d) {
    if (gone[d]) continue;
    type.shape.push_back(args.in(0).shape[d]);
    type.strides.push_back(args.in(0).strides[d]);
  }
  return one(type);
}

// The reference planner refuses a shard of a removed dim.
std::optional<Followed> follow(const OpArgs& args, const TensorType&, const Layout& operand,
                               const Mesh&) {
  const auto gone = squeezed_dims(*args.attrs, args.in(0).shape);
  if (!gone.ok()) return std::nullopt;
  return follow_dims(operand, [&](size_t d) -> std::optional<size_t> {
    if ((*gone)[d]) return std::nullopt;
    size_t to = 0;
    for (size_t before = 0; before < d; ++before) to += !(*gone)[before];
    return to;
  });
}

}  // namespace

Result<std::vector<bool>> squeezed_dims(const Attrs& attrs, const Dims& shape) {
  std::vector<int64_t> named = attrs.get_ints(AttrKey::kDims);
  if (attrs.has(AttrKey::kDim)) named.push_back(attrs.get_int(AttrKey::kDim, 0));
  const bool all = !attrs.has(AttrKey::kDim) && !attrs.has(AttrKey::kDims);
  std::vector<bool> gone(shape.size(), all);
  for (int64_t d : named) {
    const auto at = wrap_dim(d, static_cast<int>(shape.size()));
    if (!at) return invalid_argument("dim " + std::to_string(d) + " is out of range");
    gone[*at] = true;
  }
  for (size_t d = 0; d < shape.size(); ++d) gone[d] = gone[d] && shape[d] == 1;
  return gone;
}

extern const OpDef kSqueeze;
constinit const OpDef kSqueeze = {
    .kind = OpKind::kSqueeze,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kFollow,
    .follow = follow,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
