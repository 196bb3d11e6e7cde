// Shared by layer norm, RMS norm and their backwards.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// The first normalised dim of operand `x`: the dims from there on are attribute `normalized_shape`,
// and the shape of the `parameters` present.
inline Result<size_t> normalised_from(const OpArgs& args, size_t x,
                                      std::initializer_list<size_t> parameters) {
  const Dims& shape = args.in(x).shape;
  const Dims normalised(args.attrs->get_ints(AttrKey::kNormalizedShape));
  const size_t from = shape.size() - std::min(normalised.size(), shape.size());
  bool fits = !normalised.empty() && normalised.size() <= shape.size();
  for (size_t d = 0; fits && d < normalised.size(); ++d) fits = shape[from + d] == normalised[d];
  for (size_t p : parameters) fits = fits && (!args.has(p) || args.in(p).shape == normalised);
  if (!fits)
    return invalid_argument("normalized_shape does not fit " + to_string(args.in(x)) +
                            " and its weight and bias");
  return from;
}

// The type of a per-row statistic of `x`: size 1 in the dims from `from` on; f64 if x is, else f32.
inline TensorType statistic(const TensorType& x, size_t from) {
  Dims shape = x.shape;
  for (size_t d = from; d < shape.size(); ++d) shape[d] = 1;
  return row_major(x.dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32, shape);
}

// The number of dims of operand `x`, as in the graph, before the normalised ones.
inline size_t kept_dims(const OpArgs& args, size_t x) {
  return args.in(x).shape.size() - args.attrs->get_ints(AttrKey::kNormalizedShape).size();
}

// Whether `output_mask` requests that gradient.
inline bool wants_gradient(const OpArgs& args, size_t result) {
  const std::vector<int64_t>& mask = args.attrs->get_ints(AttrKey::kOutputMask);
  return mask.empty() || (result < mask.size() && mask[result] != 0);
}

}  // namespace shw::ops
