// cumprod: running products along `dim`; integers and booleans multiply as i64.
#include "ops/along_dim.h"

namespace shw::ops {
namespace {

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  if (const auto dim = along(args, 0); dim.ok()) along_dim_rules(args, *dim, rules);
}

}  // namespace

extern const OpDef kCumprod;
constinit const OpDef kCumprod = {
    .kind = OpKind::kCumprod,
    .params = kRunning,
    .infer = infer_running,
    .rules = rules,
    .takes_strided = true,
};

}  // namespace shw::ops
