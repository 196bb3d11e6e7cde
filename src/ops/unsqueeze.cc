// unsqueeze: a dim of size 1 in front of dim `dim`.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"dim", ParamKind::kInt, kRequired}};

std::optional<size_t> new_dim(const OpArgs& args) {
  return wrap_dim(args.attrs->get_int(AttrKey::kDim, 0), args.in(0).rank() + 1);
}

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const auto at = new_dim(args);
  if (!at)
    return invalid_argument("dim " + std::to_string(args.attrs->get_int(AttrKey::kDim, 0)) +
                            " is out of range");
  if (args.in(0).rank() == kMaxRank) return invalid_argument("the result has more than 8 dims");
  TensorType type = args.in(0);
  const int64_t stride = *at < type.shape.size() ? type.shape[*at] * type.strides[*at] : 1;
  type.shape.insert(*at, 1);
  type.strides.insert(*at, stride);
  return one(type);
}

std::optional<Followed> follow(const OpArgs& args, const TensorType&, const Layout& operand,
                               const Mesh&) {
  const size_t at = *new_dim(args);
  return follow_dims(operand,
                     [at](size_t d) -> std::optional<size_t> { return d < at ? d : d + 1; });
}

}  // namespace

extern const OpDef kUnsqueeze;
constinit const OpDef kUnsqueeze = {
    .kind = OpKind::kUnsqueeze,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kFollow,
    .follow = follow,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
