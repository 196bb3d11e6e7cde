// conj: the complex conjugate. A lazy view in ATen, hence free in the cost model; the runtime
// copies.
#include "ops/families.h"

namespace shw::ops {

extern const OpDef kConj;
constinit const OpDef kConj = {
    .kind = OpKind::kConj,
    .params = kSelf,
    .infer = infer_identity,
    .rules = pointwise_rules,
    .free = true,
    .takes_strided = true,
};

}  // namespace shw::ops
