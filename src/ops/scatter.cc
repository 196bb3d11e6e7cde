// scatter: self, but with the elements of `src` – or one number – at the places along `dim` that
// `index` names; the other dims go side by side. Of several for one place, the last one stays.
#include "ops/lookup.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim", ParamKind::kInt},
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

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto dim = lookup_dim(args, 1);
  if (!dim.ok()) return;  // inference has refused the node before
  const Dims &self = args.in(0).shape, &index = args.in(1).shape;
  for (size_t d = 0; d < self.size(); ++d)
    if (d != *dim && self[d] == index[d])
      rules.add(std::vector<Placement>{shard(d)},
                std::vector<Placement>(rules.num_operands(), shard(d)));
}

// Each rank changes what lies in its own block of `dim`.
void full_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto dim = lookup_dim(args, 1);
  if (!dim.ok()) return;
  std::vector<Placement> operands(rules.num_operands(), kR);
  operands[0] = shard(*dim);
  rules.add(std::vector<Placement>{shard(*dim)}, operands);
}

}  // namespace

extern const OpDef kScatter;
constinit const OpDef kScatter = {
    .kind = OpKind::kScatter,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .full_rules = full_rules,
    .takes_strided = true,
    .wants_place = Place::kOfOperand,
};

}  // namespace shw::ops
