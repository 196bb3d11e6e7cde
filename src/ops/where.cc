// where: self where the condition holds, else other; broadcast.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"condition", ParamKind::kTensor}, {"self", ParamKind::kTensor}, {"other", ParamKind::kTensor}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 3));
  if (args.in(0).dtype != Dtype::kBool)
    return invalid_argument("the condition is " + to_string(args.in(0)) + ", expected bool");
  SHW_ASSIGN_OR_RETURN(std::vector<OptionalType> results, infer_pointwise(args));
  results[0]->dtype = promote(args.in(1).dtype, args.in(2).dtype);
  return results;
}

}  // namespace

extern const OpDef kWhere;
constinit const OpDef kWhere = {
    .kind = OpKind::kWhere,
    .params = kParams,
    .infer = infer,
    .rules = pointwise_rules,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
