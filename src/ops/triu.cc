// triu: zeros below diagonal number `diagonal` of the last two dims.
#include "ops/triangle.h"

namespace shw::ops {

extern const OpDef kTriu;
constinit const OpDef kTriu = {
    .kind = OpKind::kTriu,
    .params = kTriangle,
    .infer = infer_triangle,
    .rules = replicated_only,
    .full_rules = triangle_rules,
    .piece_position = PiecePosition::kOfOperand,
    .takes_float8 = true,
};

}  // namespace shw::ops
