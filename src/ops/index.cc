// index: elements of `self` selected by integer tensors, one for each of its first dims, or for
// each of `dims`; they broadcast. Their common shape replaces the indexed dims: at the first of
// them if they are adjacent, otherwise in front (as in NumPy).
#include "ops/index.h"

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"self", ParamKind::kTensor}, {"indices", ParamKind::kTensorList}, {"dims", ParamKind::kInts}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, std::max<size_t>(2, args.operands.size())));
  SHW_ASSIGN_OR_RETURN(const IndexShape shape, index_shape(args));
  return one(row_major(args.in(0).dtype, shape.result));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto shape = index_shape(args);
  if (!shape.ok()) return;  // inference has refused the node before
  const std::vector<Placement> none(args.operands.size(), kR);
  for (size_t d = 0; d < args.in(0).shape.size(); ++d) {
    if (shape->indexed[d]) continue;
    std::vector<Placement> operands = none;
    operands[0] = shard(d);
    rules.add(std::vector<Placement>{shard(shape->place_of(d))}, operands);
  }
  for (size_t b = 0; b < shape->broadcast.size(); ++b) {
    std::vector<Placement> operands = none;
    for (size_t k = 1; k < operands.size(); ++k) {
      const Dims& own = args.in(k).shape;
      const size_t lacks = shape->broadcast.size() - own.size();
      if (b >= lacks && own[b - lacks] == shape->broadcast[b]) operands[k] = shard(b - lacks);
    }
    rules.add(std::vector<Placement>{shard(shape->first + b)}, operands);
  }
  for (Placement p : {kPSum, kPAvg}) {
    std::vector<Placement> operands = none;
    operands[0] = p;
    rules.add(std::vector<Placement>{p}, operands);
  }
}

// If an indexed dim is sharded, each element is found on one rank and is zero on the others.
void full_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto shape = index_shape(args);
  if (!shape.ok()) return;
  for (size_t d : shape->dims) {
    std::vector<Placement> operands(args.operands.size(), kR);
    operands[0] = shard(d);
    rules.add(std::vector<Placement>{kPSum}, operands);
  }
}

}  // namespace

extern const OpDef kIndex;
constinit const OpDef kIndex = {
    .kind = OpKind::kIndex,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .full_rules = full_rules,
    .piece_position = PiecePosition::kOfOperand,
    .takes_float8 = true,
};

}  // namespace shw::ops
