// scatter_reduce: self, in which the elements of `src` at positions `index` along `dim` are
// multiplied ("prod") or replace what is smaller ("amax") or larger ("amin"); elementwise in the
// other dims. Sums are scatter_add.
#include "ops/lookup.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, kRequired},
                             {"index", ParamKind::kTensor},
                             {"src", ParamKind::kTensor},
                             {"reduce", ParamKind::kString, kRequired}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(lookup_dim(args, 1).status());
  SHW_RETURN_IF_ERROR(want_operands(args, 3));
  const TensorType &self = args.in(0), &src = args.in(2);
  if (src.shape != args.in(1).shape || src.dtype != self.dtype || is_complex(self.dtype))
    return invalid_argument("src " + to_string(src) + " does not fit indices " +
                            to_string(args.in(1)) + " into " + to_string(self));
  const std::string_view how = args.attrs->get_string(AttrKey::kReduce);
  if (how != "amax" && how != "amin" && how != "prod")
    return invalid_argument("reduce is '" + std::string(how) +
                            "', expected 'amax', 'amin' or 'prod'");
  return one(row_major(self.dtype, self.shape));
}

}  // namespace

extern const OpDef kScatterReduce;
constinit const OpDef kScatterReduce = {
    .kind = OpKind::kScatterReduce,
    .params = kParams,
    .infer = infer,
    .rules = scatter_rules,
    .full_rules = scatter_full_rules,
    .takes_strided = true,
    .piece_position = PiecePosition::kOfOperand,
    .in_place = InPlace::kFirstOperand,
};

}  // namespace shw::ops
