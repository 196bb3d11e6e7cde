// t: a transposed matrix; tensors with fewer dims stay unchanged. A view.
#include <utility>

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  TensorType type = args.in(0);
  if (type.rank() > 2) return invalid_argument("expected a matrix, got " + to_string(type));
  if (type.rank() == 2) {
    std::swap(type.shape[0], type.shape[1]);
    std::swap(type.strides[0], type.strides[1]);
  }
  return one(type);
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const size_t rank = args.in(0).shape.size();
  for (size_t d = 0; d < rank; ++d) rules.add({shard(rank - 1 - d)}, {shard(d)});
  pass_partials({kPSum, kPAvg, kPMax, kPMin}, rules);
}

}  // namespace

extern const OpDef kT;
constinit const OpDef kT = {
    .kind = OpKind::kT,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .free = true,
    .takes_strided = true,
    .is_view = true,
};

}  // namespace shw::ops
