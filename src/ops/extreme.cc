#include "ops/extreme.h"

#include "ops/along_dim.h"

namespace shw::ops {

Results infer_extreme(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(const size_t dim, along(args));
  const TensorType& in = args.in(0);
  if (in.shape[dim] == 0)
    return invalid_argument("dim " + std::to_string(dim) + " of " + to_string(in) + " is empty");
  SHW_ASSIGN_OR_RETURN(std::vector<OptionalType> results, values_and_indices(args, dim, 1));
  if (args.attrs->get_bool(AttrKey::kKeepDim, false)) return results;
  for (OptionalType& t : results) {
    t->shape.erase(dim);
    t = row_major(t->dtype, t->shape);
  }
  return results;
}

Results infer_place_of_extreme(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const TensorType& in = args.in(0);
  if (args.attrs->has(AttrKey::kDim)) {
    SHW_ASSIGN_OR_RETURN(const std::vector<OptionalType> both, infer_extreme(args));
    return one(*both[1]);
  }
  if (in.numel() == 0 || is_complex(in.dtype))
    return invalid_argument(to_string(in) + " has no largest or smallest element");
  const bool keep = args.attrs->get_bool(AttrKey::kKeepDim, false);
  return one(row_major(Dtype::kI64, keep ? Dims(in.shape.size(), 1) : Dims()));
}

void place_of_extreme_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto dim = along(args);
  if (!dim.ok() || !args.attrs->has(AttrKey::kDim)) return;
  const bool keep = args.attrs->get_bool(AttrKey::kKeepDim, false);
  for (size_t d = 0; d < args.in(0).shape.size(); ++d) {
    if (d == *dim) continue;
    const std::vector<Placement> results(rules.num_results(), shard(d > *dim && !keep ? d - 1 : d));
    rules.add(results, std::vector<Placement>{shard(d)});
  }
}

}  // namespace shw::ops
