// embedding: selects rows of `weight` [rows, D] by integer `indices`.
//
// If the rows are sharded, a rank looks up the indices in its own block and produces zeros for the
// others, so the result is a partial sum (`full`). The reference planner models this as a masked
// partial of the indices, which no layout can reach at a finite price.
#include "ops/lookup.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"weight", ParamKind::kTensor},
                             {"indices", ParamKind::kTensor},
                             {"padding_idx", ParamKind::kInt, "-1"},
                             {"scale_grad_by_freq", ParamKind::kBool, "false"},
                             {"sparse", ParamKind::kBool, "false"}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  const TensorType &weight = args.in(0), &indices = args.in(1);
  if (weight.rank() != 2)
    return invalid_argument("weight is " + to_string(weight) + ", expected two dims");
  SHW_RETURN_IF_ERROR(want_index_dtype(indices));
  if (indices.rank() == kMaxRank) return invalid_argument("the result has more than 8 dims");
  Dims shape = indices.shape;
  shape.push_back(weight.shape[1]);
  return one(row_major(weight.dtype, shape));
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  rules.add({shard(results[0]->shape.size() - 1)}, {shard(1), kR});
  rules.add({Placement::masked()}, {shard(0), Placement::masked()});
  for (size_t d = 0; d < args.in(1).shape.size(); ++d) rules.add({shard(d)}, {kR, shard(d)});
}

void full_rules(const OpArgs&, std::span<const OptionalType>, RuleSet& rules) {
  rules.add({kPSum}, {shard(0), kR});
}

}  // namespace

extern const OpDef kEmbedding;
constinit const OpDef kEmbedding = {
    .kind = OpKind::kEmbedding,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .full_rules = full_rules,
    .takes_strided = true,
    .piece_position = PiecePosition::kOfOperand,
    .takes_float8 = true,
};

}  // namespace shw::ops
