#include "ops/reduction.h"

namespace shw::ops {

Result<std::vector<bool>> reduced_dims(const OpArgs& args) {
  const int rank = args.in(0).rank();
  const std::vector<int64_t>& dims = args.attrs->get_ints(AttrKey::kDims);
  std::vector<bool> reduced(static_cast<size_t>(rank), dims.empty());
  for (int64_t d : dims) {
    const auto dim = wrap_dim(d, rank);
    if (!dim)
      return invalid_argument("dims: " + std::to_string(d) + " is not a dim of a tensor of rank " +
                              std::to_string(rank));
    if (reduced[*dim]) return invalid_argument("dims: " + std::to_string(d) + " is listed twice");
    reduced[*dim] = true;
  }
  return reduced;
}

Results infer_reduction(const OpArgs& args, Dtype dtype) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const std::vector<bool> reduced, reduced_dims(args));
  const bool keep = args.attrs->get_bool(AttrKey::kKeepDim, false);
  Dims shape;
  for (size_t d = 0; d < reduced.size(); ++d)
    if (!reduced[d])
      shape.push_back(args.in(0).shape[d]);
    else if (keep)
      shape.push_back(1);
  return one(row_major(args.attrs->get_dtype(AttrKey::kDtype, dtype), shape));
}

namespace {

// If `partial` is null, reduced dims have no rule.
void add_rules(const OpArgs& args, const Placement* partial, RuleSet& rules) {
  const auto reduced = reduced_dims(args);
  if (!reduced.ok()) return;  // inference has already refused the node
  const bool keep = args.attrs->get_bool(AttrKey::kKeepDim, false);
  size_t to = 0;
  for (size_t d = 0; d < reduced->size(); ++d) {
    const bool gone = (*reduced)[d];
    if (!gone || partial) rules.add({gone ? *partial : shard(to)}, {shard(d)});
    if (!gone || keep) ++to;
  }
}

}  // namespace

void reduction_rules(const OpArgs& args, Placement partial, RuleSet& rules) {
  add_rules(args, &partial, rules);
  rules.add({partial}, {partial});
}

void kept_dims_rules(const OpArgs& args, RuleSet& rules) { add_rules(args, nullptr, rules); }

Status want_some_elements(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const TensorType& in = args.in(0);
  if (is_complex(in.dtype) || in.numel() == 0)
    return invalid_argument(to_string(in) + " has no largest or smallest element");
  return {};
}

}  // namespace shw::ops
