// rand_like: uniform numbers in [0, 1) in a new tensor of self's shape, as of rand.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"self", ParamKind::kTensor},        {"dtype", ParamKind::kDtype},
    {"layout", ParamKind::kIgnored},     {"device", ParamKind::kIgnored},
    {"pin_memory", ParamKind::kIgnored}, {"memory_format", ParamKind::kString},
    {"seed", ParamKind::kInt},           {"run_seed", ParamKind::kTrailingTensor}};

}  // namespace

extern const OpDef kRandLike;
constinit const OpDef kRandLike = {
    .kind = OpKind::kRandLike,
    .params = kParams,
    .infer = infer_random_like,
    .rules = random_like_rules,
    .piece_position = PiecePosition::kOfResult,
    .draws = always,
};

}  // namespace shw::ops
