#include "runtime/norm_shape.h"

namespace shw::runtime {

Result<size_t> check_norm(const KernelArgs& args, const TensorType& x,
                          std::initializer_list<const TensorType*> stats,
                          std::initializer_list<const TensorType*> parameters) {
  const Dims& shape = x.shape;
  const std::vector<int64_t>& given = args.attrs.get_ints(AttrKey::kNormalizedShape);
  bool fits = !given.empty() && given.size() <= shape.size() && is_floating(x.dtype);
  const Dims normalised = fits ? Dims(given) : Dims();
  const size_t from = fits ? shape.size() - normalised.size() : 0;
  Dims stat = shape;
  for (size_t d = from; fits && d < shape.size(); ++d) {
    fits = shape[d] == normalised[d - from];
    stat[d] = 1;
  }
  for (const TensorType* t : stats) fits = fits && (t == nullptr || t->shape == stat);
  for (const TensorType* t : parameters) fits = fits && (t == nullptr || t->shape == normalised);
  if (!fits)
    return bad_types("'normalized_shape', statistics or parameters do not match " + to_string(x) +
                     ": expected a floating-point tensor whose last dims are 'normalized_shape', "
                     "parameters of that shape, and statistics with size 1 in these dims");
  SHW_RETURN_IF_ERROR(check_size({x.numel()}));
  return from;
}

}  // namespace shw::runtime
