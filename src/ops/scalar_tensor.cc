// scalar_tensor: `fill_value` as a tensor without dims.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"fill_value", ParamKind::kNumber, kRequired},
                             {"dtype", ParamKind::kDtype, "f32"},
                             {"layout", ParamKind::kIgnored},
                             {"device", ParamKind::kIgnored},
                             {"pin_memory", ParamKind::kIgnored}};

Results infer(const OpArgs& args) {
  return one(row_major(args.attrs->get_dtype(AttrKey::kDtype, Dtype::kF32), Dims{}));
}

}  // namespace

extern const OpDef kScalarTensor;
constinit const OpDef kScalarTensor = {
    .kind = OpKind::kScalarTensor,
    .params = kParams,
    .infer = infer,
    .rules = replicated_only,
    .takes_float8 = true,
};

}  // namespace shw::ops
