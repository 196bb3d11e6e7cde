// cat: concatenates tensors along `dim`.
#include <algorithm>

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"tensors", ParamKind::kTensorList}, {"dim", ParamKind::kInt, "0"}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, std::max<size_t>(1, args.operands.size())));
  const TensorType& first = args.in(0);
  const auto dim = wrap_dim(args.attrs->get_int(AttrKey::kDim, 0), first.rank());
  if (!dim) return invalid_argument("there is no such dim in " + to_string(first));
  Dims shape = first.shape;
  Dtype dtype = first.dtype;
  for (size_t k = 1; k < args.operands.size(); ++k) {
    Dims rest = args.in(k).shape;
    const bool fits = rest.size() == shape.size() &&
                      !__builtin_add_overflow(shape[*dim], rest[*dim], &shape[*dim]);
    if (fits) rest[*dim] = shape[*dim];
    if (!fits || rest != shape)
      return invalid_argument(to_string(args.in(k)) + " does not continue " + to_string(first) +
                              " along dim " + std::to_string(*dim));
    dtype = promote(dtype, args.in(k).dtype);
  }
  return one(row_major(dtype, shape));
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  std::vector<bool> barred(results[0]->shape.size());
  barred[*wrap_dim(args.attrs->get_int(AttrKey::kDim, 0), results[0]->rank())] = true;
  positionwise_rules(barred, rules);
}

}  // namespace

extern const OpDef kCat;
constinit const OpDef kCat = {
    .kind = OpKind::kCat,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .takes_strided = true,
    .takes_float8 = true,
};

}  // namespace shw::ops
