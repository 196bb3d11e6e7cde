// index_put: self with `values` (broadcast) written where index would read; with `accumulate`,
// values are added. If several values have the same position, the last one is kept.
#include <algorithm>

#include "ops/families.h"
#include "ops/index.h"

namespace shw::ops {
namespace {

// The index tensors come last, so that there may be any number of them.
constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"values", ParamKind::kTensor},
                             {"indices", ParamKind::kTensorList},
                             {"dims", ParamKind::kInts},
                             {"accumulate", ParamKind::kBool, "false"}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, std::max<size_t>(3, args.operands.size())));
  SHW_ASSIGN_OR_RETURN(const IndexShape shape, index_shape(args, 2));
  if (is_float8(args.in(0).dtype) && args.attrs->get_bool(AttrKey::kAccumulate, false))
    return unimplemented("there is no sum of 8-bit floats: cast to a wider float first");
  const TensorType& values = args.in(1);
  bool fits = values.dtype == args.in(0).dtype && values.shape.size() <= shape.result.size();
  const size_t lacks = shape.result.size() - std::min(values.shape.size(), shape.result.size());
  for (size_t d = 0; fits && d < values.shape.size(); ++d)
    fits = values.shape[d] == 1 || values.shape[d] == shape.result[lacks + d];
  if (!fits)
    return invalid_argument("values " + to_string(values) + " do not fill " +
                            to_string(row_major(args.in(0).dtype, shape.result)));
  return one(row_major(args.in(0).dtype, args.in(0).shape));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto shape = index_shape(args, 2);
  if (!shape.ok()) return;  // inference has refused the node before
  const Dims& values = args.in(1).shape;
  const size_t lacks = shape->result.size() - values.size();
  for (size_t d = 0; d < args.in(0).shape.size(); ++d) {
    if (shape->indexed[d]) continue;
    std::vector<Placement> operands(args.operands.size(), kR);
    operands[0] = shard(d);
    const size_t at = shape->place_of(d);
    if (at >= lacks && values[at - lacks] == args.in(0).shape[d]) operands[1] = shard(at - lacks);
    rules.add(std::vector<Placement>{shard(d)}, operands);
  }
  std::vector<Placement> operands(args.operands.size(), kR);
  operands[0] = operands[1] = kPSum;
  rules.add(std::vector<Placement>{kPSum}, operands);
}

// Each rank adds the values of its own indices to its part of a sum.
void rules_of_parts(const OpArgs& args, const IndexShape& shape, RuleSet& rules) {
  const Dims& values = args.in(1).shape;
  const size_t lacks = shape.result.size() - values.size();
  for (size_t b = 0; b < shape.broadcast.size(); ++b) {
    std::vector<Placement> operands(args.operands.size(), kR);
    operands[0] = kPSum;
    for (size_t k = 2; k < operands.size(); ++k) {
      const Dims& own = args.in(k).shape;
      const size_t shift = shape.broadcast.size() - own.size();
      if (b >= shift && own[b - shift] == shape.broadcast[b]) operands[k] = shard(b - shift);
    }
    const size_t at = shape.first + b;
    const bool cut = at >= lacks && values[at - lacks] == shape.result[at];
    if (cut) operands[1] = shard(at - lacks);
    // The padding of uneven shards adds zeros, but not where all indices share one value.
    rules.add(std::vector<Placement>{kPSum}, operands, cut ? Blocks::kAny : Blocks::kEven);
  }
}

// Each rank updates its own block.
void full_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto shape = index_shape(args, 2);
  if (!shape.ok()) return;
  if (args.attrs->get_bool(AttrKey::kAccumulate, false)) rules_of_parts(args, *shape, rules);
  for (size_t d : shape->dims) {
    std::vector<Placement> operands(args.operands.size(), kR);
    operands[0] = shard(d);
    rules.add(std::vector<Placement>{shard(d)}, operands);
  }
}

}  // namespace

extern const OpDef kIndexPut;
constinit const OpDef kIndexPut = {
    .kind = OpKind::kIndexPut,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .full_rules = full_rules,
    .piece_position = PiecePosition::kOfOperand,
    .in_place = InPlace::kFirstOperand,
    .takes_float8 = true,
};

}  // namespace shw::ops
