// split: views of `split_size` elements each along `dim`; the last one has the rest.
#include "ops/slice.h"

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"split_size", ParamKind::kInt, kRequired},
                             {"dim", ParamKind::kInt, "0"}};

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
    .infer = infer_split,
    .rules = rules,
    .free = true,
    .takes_strided = true,
    .is_view = true,
};

}  // namespace shw::ops
