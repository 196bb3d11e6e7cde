// stack: tensors of one shape side by side in a new dim `dim`. The reference lets no partials pass.
#include <algorithm>

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"tensors", ParamKind::kTensorList}, {"dim", ParamKind::kInt, "0"}};

std::optional<size_t> new_dim(const OpArgs& args) {
  return wrap_dim(args.attrs->get_int(AttrKey::kDim, 0), args.in(0).rank() + 1);
}

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, std::max<size_t>(1, args.operands.size())));
  const TensorType& first = args.in(0);
  const auto dim = new_dim(args);
  if (!dim || first.rank() == kMaxRank)
    return invalid_argument("there is no place for such a dim in " + to_string(first));
  Dtype dtype = first.dtype;
  for (size_t k = 1; k < args.operands.size(); ++k) {
    if (args.in(k).shape != first.shape)
      return invalid_argument(to_string(args.in(k)) + " does not have the shape of " +
                              to_string(first));
    dtype = promote(dtype, args.in(k).dtype);
  }
  Dims shape = first.shape;
  shape.insert(*dim, static_cast<int64_t>(args.operands.size()));
  return one(row_major(dtype, shape));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto dim = new_dim(args);
  for (size_t d = 0; dim && d < args.in(0).shape.size(); ++d)
    rules.add(std::vector<Placement>{shard(d < *dim ? d : d + 1)},
              std::vector<Placement>(args.operands.size(), shard(d)));
}

void full_rules(const OpArgs&, std::span<const OptionalType>, RuleSet& rules) {
  pass_partials({kPSum, kPAvg, kPMin, kPMax}, rules);
}

}  // namespace

extern const OpDef kStack;
constinit const OpDef kStack = {
    .kind = OpKind::kStack,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .full_rules = full_rules,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
