// What layer norm and its backward share.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// The first dim of operand `x` that is normalised: the dims from there on are attribute
// `normalized_shape`, and the shape of the operands `parameters` that are there.
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

}  // namespace shw::ops
