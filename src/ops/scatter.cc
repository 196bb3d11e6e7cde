// scatter: self with the elements of `src`, or one number, written at positions `index` along
// `dim`; elementwise in the other dims. If several have the same position, the last one is kept.
#include "ops/lookup.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, kRequired},
                             {"index", ParamKind::kTensor},
                             {"src", ParamKind::kTensorOrScalar}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(lookup_dim(args, 1).status());
  const TensorType& index = args.in(1);
  if (!args.has(2) && !args.attrs->has(AttrKey::kSrc))
    return invalid_argument("there is nothing to scatter");
  if (args.has(2) && (args.in(2).shape != index.shape || args.in(2).dtype != args.in(0).dtype))
    return invalid_argument("src " + to_string(args.in(2)) + " does not fit indices " +
                            to_string(index) + " into " + to_string(args.in(0)));
  return one(row_major(args.in(0).dtype, args.in(0).shape));
}

}  // namespace

extern const OpDef kScatter;
constinit const OpDef kScatter = {
    .kind = OpKind::kScatter,
    .params = kParams,
    .infer = infer,
    .rules = scatter_rules,
    .full_rules = scatter_full_rules,
    .takes_strided = true,
    .piece_position = PiecePosition::kOfOperand,
    .in_place = InPlace::kFirstOperand,
    .takes_float8 = true,
};

}  // namespace shw::ops
