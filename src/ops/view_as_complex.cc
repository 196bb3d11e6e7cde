// view_as_complex: pairs in the last dim, which has size 2, as complex numbers.
#include "ops/families.h"

namespace shw::ops {
namespace {

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  TensorType type = args.in(0);
  if (type.dtype != Dtype::kF32 || type.rank() == 0 || type.shape.back() != 2 ||
      type.strides.back() != 1)
    return invalid_argument("expected f32 with a last dim of 2 and stride 1, got " +
                            to_string(type));
  type.dtype = Dtype::kC64;
  type.shape.erase(type.shape.size() - 1);
  type.strides.erase(type.strides.size() - 1);
  for (int64_t& s : type.strides) {
    if (s % 2 != 0) return invalid_argument("a stride is odd: " + to_string(args.in(0)));
    s /= 2;
  }
  return one(type);
}

void rules(const OpArgs&, std::span<const OptionalType> results, RuleSet& rules) {
  for (size_t d = 0; d < results[0]->shape.size(); ++d) rules.add({shard(d)}, {shard(d)});
  pass_partials({kPSum, kPAvg}, rules);
}

}  // namespace

extern const OpDef kViewAsComplex;
constinit const OpDef kViewAsComplex = {
    .kind = OpKind::kViewAsComplex,
    .params = kSelf,
    .infer = infer,
    .rules = rules,
    .free = true,
    .takes_strided = true,
    .is_view = true,
};

}  // namespace shw::ops
