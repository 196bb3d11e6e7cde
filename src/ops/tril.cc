// tril: zeros above diagonal number `diagonal` of the last two dims.
#include "ops/triangle.h"

namespace shw::ops {

extern const OpDef kTril;
constinit const OpDef kTril = {
    .kind = OpKind::kTril,
    .params = kTriangle,
    .infer = infer_triangle,
    .rules = replicated_only,
    .full_rules = triangle_rules,
    .piece_position = PiecePosition::kOfOperand,
    .takes_float8 = true,
};

}  // namespace shw::ops
