// repeat: tiles the tensor `repeats` times in each dim; new dims come first. Only dims that are not
// repeated can be sharded.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"repeats", ParamKind::kInts, kRequired}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const TensorType& in = args.in(0);
  const std::vector<int64_t>& repeats = args.attrs->get_ints(AttrKey::kRepeats);
  if (repeats.size() < in.shape.size() || repeats.size() > kMaxRank)
    return invalid_argument("repeats has " + std::to_string(repeats.size()) +
                            " entries for a tensor of rank " + std::to_string(in.rank()));
  Dims shape(repeats);
  const size_t added = repeats.size() - in.shape.size();
  for (size_t d = 0; d < repeats.size(); ++d)
    if (repeats[d] < 0 ||
        (d >= added && __builtin_mul_overflow(repeats[d], in.shape[d - added], &shape[d])))
      return invalid_argument("repeats[" + std::to_string(d) + "] is " +
                              std::to_string(repeats[d]));
  return one(row_major(in.dtype, shape));
}

std::optional<Followed> follow(const OpArgs& args, const TensorType&, const Layout& operand,
                               const Mesh&) {
  const std::vector<int64_t>& repeats = args.attrs->get_ints(AttrKey::kRepeats);
  const size_t added = repeats.size() - args.in(0).shape.size();
  return follow_dims(operand, [&](size_t d) -> std::optional<size_t> {
    if (repeats[added + d] != 1) return std::nullopt;
    return added + d;
  });
}

}  // namespace

extern const OpDef kRepeat;
constinit const OpDef kRepeat = {
    .kind = OpKind::kRepeat,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kFollow,
    .follow = follow,
    .takes_float8 = true,
};

}  // namespace shw::ops
