// cumsum: running sums along `dim`; integers and booleans sum as i64.
#include "ops/along_dim.h"

namespace shw::ops {
namespace {

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto dim = along(args, 0);
  if (!dim.ok()) return;  // inference has refused the node before
  along_dim_rules(args, *dim, rules);
  pass_partials({kPSum, kPAvg}, rules);
}

}  // namespace

extern const OpDef kCumsum;
constinit const OpDef kCumsum = {
    .kind = OpKind::kCumsum,
    .params = kRunning,
    .infer = infer_running,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
