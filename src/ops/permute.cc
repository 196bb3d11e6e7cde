// permute: dim i of the result is dim dims[i] of the operand.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"dims", ParamKind::kInts, kRequired}};

// Operand dim of each result dim, or an error.
Result<Dims> order(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const int rank = args.in(0).rank();
  const std::vector<int64_t>& dims = args.attrs->get_ints(AttrKey::kDims);
  Dims order;
  uint32_t seen = 0;
  for (int64_t d : dims) {
    const auto from = wrap_dim(d, rank);
    if (!from || (seen >> *from & 1)) break;
    seen |= 1u << *from;
    order.push_back(static_cast<int64_t>(*from));
  }
  if (order.size() != dims.size() || dims.size() != static_cast<size_t>(rank))
    return invalid_argument("dims is not a permutation of the " + std::to_string(rank) + " dims");
  return order;
}

Results infer(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Dims from, order(args));
  TensorType type{{}, {}, args.in(0).dtype};
  for (int64_t f : from) {
    type.shape.push_back(args.in(0).shape[static_cast<size_t>(f)]);
    type.strides.push_back(args.in(0).strides[static_cast<size_t>(f)]);
  }
  return one(type);
}

std::optional<Followed> follow(const OpArgs& args, const TensorType&, const Layout& operand,
                               const Mesh&) {
  const auto from = order(args);
  if (!from.ok()) return std::nullopt;
  return follow_dims(operand, [&](size_t d) -> std::optional<size_t> {
    for (size_t i = 0; i < from->size(); ++i)
      if ((*from)[i] == static_cast<int64_t>(d)) return i;
    return std::nullopt;
  });
}

}  // namespace

extern const OpDef kPermute;
constinit const OpDef kPermute = {
    .kind = OpKind::kPermute,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kFollow,
    .follow = follow,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
