#include "ops/lookup.h"

#include "ops/along_dim.h"

namespace shw::ops {

Status want_index_dtype(const TensorType& index) {
  if (index.dtype == Dtype::kI64 || index.dtype == Dtype::kI32) return {};
  return invalid_argument("indices are " + to_string(index) + ", expected i64 or i32");
}

Result<size_t> lookup_dim(const OpArgs& args, size_t index) {
  SHW_RETURN_IF_ERROR(want_operands(args, index + 1));
  SHW_ASSIGN_OR_RETURN(const size_t dim, along(args, 0));
  SHW_RETURN_IF_ERROR(want_index_dtype(args.in(index)));
  const Dims &self = args.in(0).shape, &named = args.in(index).shape;
  bool fits = named.size() == self.size();
  for (size_t d = 0; fits && d < self.size(); ++d) fits = d == dim || named[d] <= self[d];
  if (!fits)
    return invalid_argument("indices " + to_string(args.in(index)) + " do not fit " +
                            to_string(args.in(0)) + " but for dim " + std::to_string(dim));
  return dim;
}

void scatter_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto dim = lookup_dim(args, 1);
  if (!dim.ok()) return;  // inference has refused the node before
  const Dims &self = args.in(0).shape, &index = args.in(1).shape;
  for (size_t d = 0; d < self.size(); ++d)
    if (d != *dim && self[d] == index[d])
      rules.add(std::vector<Placement>{shard(d)},
                std::vector<Placement>(rules.num_operands(), shard(d)));
}

void scatter_full_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto dim = lookup_dim(args, 1);
  if (!dim.ok()) return;
  std::vector<Placement> operands(rules.num_operands(), kR);
  operands[0] = shard(*dim);
  rules.add(std::vector<Placement>{shard(*dim)}, operands);
}

}  // namespace shw::ops
