// split: views of `split_size` elements each along `dim`, the last one of what is left.
#include "ops/slice.h"

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"self", ParamKind::kTensor}, {"split_size", ParamKind::kInt}, {"dim", ParamKind::kInt}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const SplitPieces pieces, split_pieces(*args.attrs, args.in(0).shape));
  std::vector<OptionalType> results;
  for (int64_t size : pieces.sizes) {
    results.push_back(args.in(0));
    results.back()->shape[pieces.dim] = size;
  }
  return results;
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto pieces = split_pieces(*args.attrs, args.in(0).shape);
  if (!pieces.ok()) return;  // inference has refused the node before
  std::vector<bool> barred(args.in(0).shape.size());
  barred[pieces->dim] = true;
  positionwise_rules(barred, rules);
}

}  // namespace

extern const OpDef kSplit;
constinit const OpDef kSplit = {
    .kind = OpKind::kSplit,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .free = true,
    .takes_strided = true,
    .is_view = true,
};

}  // namespace shw::ops
