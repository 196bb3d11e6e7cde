// to_copy: a row-major copy, in another `dtype` if one is given. Sums do not pass from floating to
// integer numbers, and nothing passes to truth values.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"self", ParamKind::kTensor},         {"dtype", ParamKind::kDtype},
    {"layout", ParamKind::kIgnored},      {"device", ParamKind::kIgnored},
    {"pin_memory", ParamKind::kIgnored},  {"non_blocking", ParamKind::kIgnored},
    {"memory_format", ParamKind::kString}};

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  const Dtype from = args.in(0).dtype, to = results[0]->dtype;
  const auto inexact = [](Dtype d) { return is_floating(d) || is_complex(d); };
  pointwise_shards(args, results, rules);
  if (to == Dtype::kBool && from != to) return;
  if (!inexact(from) || inexact(to)) pass_partials({kPSum, kPAvg}, rules);
  pass_partials({kPMin, kPMax}, rules);
}

}  // namespace

extern const OpDef kToCopy;
constinit const OpDef kToCopy = {
    .kind = OpKind::kToCopy,
    .params = kParams,
    .infer = infer_like,
    .rules = rules,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
