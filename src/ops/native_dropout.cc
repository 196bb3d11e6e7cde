// native_dropout: zeros a share `p` of the elements, multiplies the others by 1 / (1 − p), and
// returns the mask. The mask depends only on `seed` and on an element's position in the whole
// tensor, so it is the same under every sharding. Without `train`, all elements are kept.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"input", ParamKind::kTensor},
                             {"p", ParamKind::kNumber, kRequired},
                             {"train", ParamKind::kBool, "true"},
                             {"seed", ParamKind::kInt},
                             {"run_seed", ParamKind::kTrailingTensor}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  SHW_RETURN_IF_ERROR(want_run_seed(args, 1));
  const TensorType& in = args.in(0);
  const double p = args.attrs->get_number(AttrKey::kP, 0);
  if (!is_floating(in.dtype) || !(p >= 0 && p <= 1))
    return invalid_argument("a share p of " + std::to_string(p) + " of " + to_string(in) +
                            " cannot be dropped");
  return std::vector<OptionalType>{row_major(in.dtype, in.shape),
                                   row_major(Dtype::kBool, in.shape)};
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  std::vector<Placement> operands(rules.num_operands(),
                                  kR);  // the run's seed is the same everywhere
  for (size_t d = 0; d < args.in(0).shape.size(); ++d) {
    operands[0] = shard(d);
    rules.add(std::array{shard(d), shard(d)}, operands);
  }
}

bool draws(const Attrs& attrs) {
  return attrs.get_bool(AttrKey::kTrain, true) && attrs.get_number(AttrKey::kP, 0) != 0;
}

}  // namespace

extern const OpDef kDropout;
constinit const OpDef kDropout = {
    .kind = OpKind::kDropout,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .piece_position = PiecePosition::kOfOperand,
    .draws = draws,
};

}  // namespace shw::ops
