// embedding_dense_backward: for each of `num_weights` rows, the sum of the gradients with its
// index.
#include <algorithm>
#include <array>

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor},
                             {"indices", ParamKind::kTensor},
                             {"num_weights", ParamKind::kInt, kRequired},
                             {"padding_idx", ParamKind::kInt, "-1"},
                             {"scale_grad_by_freq", ParamKind::kBool, "false"}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  const TensorType &grad = args.in(0), &indices = args.in(1);
  const int64_t rows = args.attrs->get_int(AttrKey::kNumWeights, -1);
  if (rows < 0) return invalid_argument("attribute 'num_weights' is missing or negative");
  if (grad.rank() != indices.rank() + 1 ||
      !std::equal(indices.shape.begin(), indices.shape.end(), grad.shape.begin()))
    return invalid_argument("grad_output " + to_string(grad) + " does not fit indices " +
                            to_string(indices));
  return one(row_major(grad.dtype, Dims{rows, grad.shape.back()}));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const size_t dims = args.in(1).shape.size();
  rules.add({shard(1)}, {shard(dims), kR});
  for (size_t d = 0; d < dims; ++d) rules.add({kPSum}, {shard(d), shard(d)});
  rules.add({kPSum}, {kPSum, kR});
}

// Each rank sums over its own rows.
void full_rules(const OpArgs&, std::span<const OptionalType>, RuleSet& rules) {
  rules.add({shard(0)}, {kR, kR});
}

}  // namespace

extern const OpDef kEmbeddingDenseBackward;
constinit const OpDef kEmbeddingDenseBackward = {
    .kind = OpKind::kEmbeddingDenseBackward,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .full_rules = full_rules,
    .takes_strided = true,
    .piece_position = PiecePosition::kOfResult,
};

}  // namespace shw::ops
