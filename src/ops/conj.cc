// conj: the complex conjugate. A lazy view in ATen, hence free in the cost model; the runtime
// copies.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  return one(args.in(0));
}

}  // namespace

extern const OpDef kConj;
constinit const OpDef kConj = {
    .kind = OpKind::kConj,
    .params = kParams,
    .infer = infer,
    .rules = pointwise_rules,
    .free = true,
};

}  // namespace shw::ops
