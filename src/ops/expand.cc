// expand: dims of size 1, and new dims in front, repeated without copying to `size`; −1 keeps a
// dim.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"size", ParamKind::kInts, kRequired}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const TensorType& in = args.in(0);
  const std::vector<int64_t>& size = args.attrs->get_ints(AttrKey::kSize);
  if (size.size() < in.shape.size() || size.size() > kMaxRank)
    return invalid_argument("size has " + std::to_string(size.size()) + " dims for a tensor of " +
                            std::to_string(in.shape.size()));
  const size_t shift = size.size() - in.shape.size();
  TensorType type{{}, {}, in.dtype};
  for (size_t i = 0; i < size.size(); ++i) {
    const bool is_new = i < shift;
    const int64_t from = is_new ? 1 : in.shape[i - shift];
    const int64_t to = size[i] == -1 && !is_new ? from : size[i];
    if (to < 0 || (from != to && from != 1))
      return invalid_argument("dim " + std::to_string(i) + " of size " + std::to_string(from) +
                              " does not expand to " + std::to_string(size[i]));
    type.shape.push_back(to);
    type.strides.push_back(is_new || from != to ? 0 : in.strides[i - shift]);
  }
  return one(type);
}

std::optional<Followed> follow(const OpArgs& args, const TensorType& result, const Layout& operand,
                               const Mesh&) {
  const size_t shift = result.shape.size() - args.in(0).shape.size();
  return follow_dims(operand, [&](size_t d) -> std::optional<size_t> {
    if (args.in(0).shape[d] != result.shape[d + shift])
      return std::nullopt;  // what is repeated cannot be sharded
    return d + shift;
  });
}

}  // namespace

extern const OpDef kExpand;
constinit const OpDef kExpand = {
    .kind = OpKind::kExpand,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kFollow,
    .follow = follow,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
