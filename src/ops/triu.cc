// triu: zeros below diagonal number `diagonal` of the last two dims. A rank that knows where its
// piece lies can do its part (`full`); the reference wants the matrix whole.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"diagonal", ParamKind::kInt}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  if (args.in(0).rank() < 2)
    return invalid_argument("want two dims or more, not " + to_string(args.in(0)));
  return infer_same(args);
}

void full_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  positionwise_rules(std::vector<bool>(args.in(0).shape.size(), false), rules);
}

}  // namespace

extern const OpDef kTriu;
constinit const OpDef kTriu = {
    .kind = OpKind::kTriu,
    .params = kParams,
    .infer = infer,
    .rules = replicated_only,
    .full_rules = full_rules,
    .wants_place = Place::kOfOperand,
};

}  // namespace shw::ops
