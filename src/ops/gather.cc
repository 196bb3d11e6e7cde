// gather: selects elements of `self` along `dim` by `index`; elementwise in the other dims.
//
// If `dim` of self is sharded, a rank selects from its own block and produces zeros for the rest,
// so the result is a partial sum (`full`), as a loss over a sharded vocabulary requires. The
// reference planner models this as a masked partial of the indices, which no layout can reach at a
// finite price.
#include "ops/lookup.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, kRequired},
                             {"index", ParamKind::kTensor},
                             {"sparse_grad", ParamKind::kBool, "false"}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(lookup_dim(args, 1).status());
  return one(row_major(args.in(0).dtype, args.in(1).shape));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto dim = lookup_dim(args, 1);
  if (!dim.ok()) return;  // inference has refused the node before
  const Dims &self = args.in(0).shape, &index = args.in(1).shape;
  if (index[*dim] == 1) rules.add({Placement::masked()}, {shard(*dim), Placement::masked()});
  rules.add({shard(*dim)}, {kR, shard(*dim)});
  for (size_t d = 0; d < self.size(); ++d)
    if (d != *dim && self[d] == index[d]) rules.add({shard(d)}, {shard(d), shard(d)});
}

void full_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto dim = lookup_dim(args, 1);
  if (!dim.ok()) return;
  rules.add({kPSum}, {shard(*dim), kR});
  for (Placement p : {kPSum, kPAvg, kPMin, kPMax}) rules.add({p}, {p, kR});
}

}  // namespace

extern const OpDef kGather;
constinit const OpDef kGather = {
    .kind = OpKind::kGather,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .full_rules = full_rules,
    .takes_strided = true,
    .piece_position = PiecePosition::kOfOperand,
    .takes_float8 = true,
};

}  // namespace shw::ops
