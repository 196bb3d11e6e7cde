// full: a new tensor of `size` filled with `fill_value`. May be created sharded.
#include "ops/families.h"
#include "ops/zeros.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"size", ParamKind::kInts, kRequired}, {"fill_value", ParamKind::kNumber, kRequired},
    {"dtype", ParamKind::kDtype},          {"layout", ParamKind::kIgnored},
    {"device", ParamKind::kIgnored},       {"pin_memory", ParamKind::kIgnored}};

Results infer(const OpArgs& args) {
  const AttrValue& value = *args.attrs->find(AttrKey::kFillValue);
  return infer_factory(args, std::holds_alternative<bool>(value)      ? Dtype::kBool
                             : std::holds_alternative<int64_t>(value) ? Dtype::kI64
                                                                      : Dtype::kF32);
}

}  // namespace

extern const OpDef kFull;
constinit const OpDef kFull = {
    .kind = OpKind::kFull,
    .params = kParams,
    .infer = infer,
    .rules = factory_rules,
    .full_rules = parts_of_zeros,
    .takes_float8 = true,
};

}  // namespace shw::ops
