// full_like: a new tensor of self's shape filled with `fill_value`.
#include "ops/families.h"
#include "ops/zeros.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"self", ParamKind::kTensor},         {"fill_value", ParamKind::kNumber, kRequired},
    {"dtype", ParamKind::kDtype},         {"layout", ParamKind::kIgnored},
    {"device", ParamKind::kIgnored},      {"pin_memory", ParamKind::kIgnored},
    {"memory_format", ParamKind::kString}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  return infer_like(args);
}

}  // namespace

extern const OpDef kFullLike;
constinit const OpDef kFullLike = {
    .kind = OpKind::kFullLike,
    .params = kParams,
    .infer = infer,
    .rules = like_rules,
    .full_rules = parts_of_zeros,
    .takes_float8 = true,
};

}  // namespace shw::ops
