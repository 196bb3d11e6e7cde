// new_full: a new tensor of `size` filled with `fill_value`, of self's dtype by default. Self's
// values are not read.
#include "ops/families.h"
#include "ops/zeros.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"size", ParamKind::kInts, kRequired},
                             {"fill_value", ParamKind::kNumber, kRequired},
                             {"dtype", ParamKind::kDtype},
                             {"layout", ParamKind::kIgnored},
                             {"device", ParamKind::kIgnored},
                             {"pin_memory", ParamKind::kIgnored}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  return infer_factory(args, args.in(0).dtype);
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  const bool same = args.in(0).shape == results[0]->shape;
  for (size_t d = 0; d < args.in(0).shape.size(); ++d)
    rules.add({same ? shard(d) : kR}, {shard(d)});
  made_from_partials(rules);
}

}  // namespace

extern const OpDef kNewFull;
constinit const OpDef kNewFull = {
    .kind = OpKind::kNewFull,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .full_rules = parts_of_zeros,
    .takes_float8 = true,
};

}  // namespace shw::ops
