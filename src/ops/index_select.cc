// index_select: slices of `self` along `dim`, selected by a 1-D index. If `dim` is sharded, a rank
// has zeros for the slices of others, so the result is a partial sum (`full`).
#include "ops/along_dim.h"
#include "ops/lookup.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim", ParamKind::kInt, kRequired},
                             {"index", ParamKind::kTensor}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  SHW_ASSIGN_OR_RETURN(const size_t dim, along(args, 0));
  SHW_RETURN_IF_ERROR(want_index_dtype(args.in(1)));
  if (args.in(1).rank() != 1)
    return invalid_argument("indices are " + to_string(args.in(1)) + ", expected one dim");
  Dims shape = args.in(0).shape;
  shape[dim] = args.in(1).shape[0];
  return one(row_major(args.in(0).dtype, shape));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto dim = along(args, 0);
  if (!dim.ok()) return;  // inference has refused the node before
  for (size_t d = 0; d < args.in(0).shape.size(); ++d)
    if (d != *dim) rules.add({shard(d)}, {shard(d), kR});
  rules.add({shard(*dim)}, {kR, shard(0)});
  for (Placement p : {kPSum, kPAvg, kPMin, kPMax}) rules.add({p}, {p, kR});
}

void full_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  if (const auto dim = along(args, 0); dim.ok()) rules.add({kPSum}, {shard(*dim), kR});
}

}  // namespace

extern const OpDef kIndexSelect;
constinit const OpDef kIndexSelect = {
    .kind = OpKind::kIndexSelect,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .full_rules = full_rules,
    .takes_strided = true,
    .piece_position = PiecePosition::kOfOperand,
    .takes_float8 = true,
};

}  // namespace shw::ops
