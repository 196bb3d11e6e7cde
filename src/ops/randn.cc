// randn: standard normal numbers in a new tensor of `size`. Each element depends only on `seed` and
// its position in the whole tensor, so every sharding draws the same numbers.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"size", ParamKind::kInts, kRequired},   {"dtype", ParamKind::kDtype, "f32"},
    {"layout", ParamKind::kIgnored},         {"device", ParamKind::kIgnored},
    {"pin_memory", ParamKind::kIgnored},     {"seed", ParamKind::kInt},
    {"run_seed", ParamKind::kTrailingTensor}};

}  // namespace

extern const OpDef kRandn;
constinit const OpDef kRandn = {
    .kind = OpKind::kRandn,
    .params = kParams,
    .infer = infer_random,
    .rules = random_rules,
    .piece_position = PiecePosition::kOfResult,
    .draws = always,
};

}  // namespace shw::ops
