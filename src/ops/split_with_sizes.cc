// split_with_sizes: views of `split_sizes` elements along `dim`. The reference lets no partials
// pass here, unlike split.
#include "ops/slice.h"

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"split_sizes", ParamKind::kInts, kRequired},
                             {"dim", ParamKind::kInt, "0"}};

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto pieces = split_pieces(*args.attrs, args.in(0).shape);
  if (!pieces.ok()) return;  // inference has refused the node before
  for (size_t d = 0; d < args.in(0).shape.size(); ++d)
    if (d != pieces->dim) {
      const std::vector<Placement> results(rules.num_results(), shard(d));
      rules.add(results, std::vector<Placement>{shard(d)});
    }
}

}  // namespace

extern const OpDef kSplitWithSizes;
constinit const OpDef kSplitWithSizes = {
    .kind = OpKind::kSplitWithSizes,
    .params = kParams,
    .infer = infer_split,
    .rules = rules,
    .free = true,
    .takes_strided = true,
    .is_view = true,
};

}  // namespace shw::ops
