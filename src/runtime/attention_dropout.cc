#include "runtime/attention_dropout.h"

#include <string>

namespace shw::runtime {

Result<AttentionDropout> attention_dropout(const KernelArgs& args, const AttentionShape& shape) {
  const double p = args.attrs.get_number(AttrKey::kDropoutP, 0);
  if (p == 0) return AttentionDropout{};
  if (!(p > 0 && p <= 1))
    return invalid_argument("attribute 'dropout_p' is " + std::to_string(p) + ", expected 0 to 1");
  SHW_ASSIGN_OR_RETURN(Piece piece, piece_of(args.attrs, args.mesh, args.rank));
  if (piece.whole.empty()) {  // the step has the whole tensor
    piece.size = piece.whole = {shape.batch, shape.heads, shape.queries, shape.width};
    piece.offset = Dims(4, 0);
  }
  if (piece.whole.size() != 4 || piece.size[0] > shape.batch || piece.size[1] > shape.heads ||
      piece.size[2] != shape.queries)
    return bad_types(
        "attributes 'size' and 'cuts' do not describe these queries: expected the whole tensor's "
        "four dims, of which batch and heads may be cut");
  int64_t queries = 0, heads = 0, all = 0;
  if (__builtin_mul_overflow(shape.queries, shape.keys, &queries) ||
      __builtin_mul_overflow(queries, piece.whole[1], &heads) ||
      __builtin_mul_overflow(heads, piece.whole[0], &all))
    return bad_types("attention has more pairs of a query and a key than 64 bits number");
  return AttentionDropout{Dropped::share(p), piece.offset[0] * heads + piece.offset[1] * queries,
                          heads, queries, shape.keys};
}

Result<StepSeed> attention_seed(const KernelArgs& args) {
  return step_seed(args, kAttentionRunSeed);
}

Status check_drawn_seed(const TensorType& seed) {
  if (seed.dtype == Dtype::kI64 && seed.numel() > 0) return {};
  return bad_types("the seed of attention's dropout is " + to_string(seed) + ", expected i64");
}

Status check_drawn_seed(const KernelArgs& backward) {
  const auto& inputs = backward.inputs;
  const TensorType* seed =
      inputs.size() > kAttentionDrawnSeed ? inputs[kAttentionDrawnSeed] : nullptr;
  if (seed == nullptr)
    return invalid_argument("attention with dropout lacks operand 'seed', a result of its sdpa");
  return check_drawn_seed(*seed);
}

}  // namespace shw::runtime
