// squeeze: without dim `dim`, if its size is 1; a larger dim stays.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"dim", ParamKind::kInt}};

// The dim that goes, or the rank when none does.
std::optional<size_t> place(const OpArgs& args) {
  const auto at = wrap_dim(args.attrs->get_int(AttrKey::kDim, 0), args.in(0).rank());
  if (at && args.in(0).shape[*at] != 1) return args.in(0).shape.size();
  return at;
}

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const auto at = place(args);
  if (!at)
    return invalid_argument("dim " + std::to_string(args.attrs->get_int(AttrKey::kDim, 0)) +
                            " is out of range");
  TensorType type = args.in(0);
  if (*at < type.shape.size()) {
    type.shape.erase(*at);
    type.strides.erase(*at);
  }
  return one(type);
}

std::optional<Followed> follow(const OpArgs& args, const TensorType&, const Layout& operand,
                               const Mesh&) {
  const size_t at = *place(args);
  return follow_dims(operand, [at](size_t d) -> std::optional<size_t> {
    if (d == at) return std::nullopt;  // the reference refuses a shard of the dim that goes
    return d < at ? d : d - 1;
  });
}

}  // namespace

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
