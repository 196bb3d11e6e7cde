#include "ops/pad.h"

namespace shw::ops {

Result<Padding> padding_of(const Attrs& attrs, const Dims& shape) {
  const std::vector<int64_t>& pad = attrs.get_ints(AttrKey::kPad);
  if (pad.size() % 2 != 0 || pad.size() / 2 > shape.size())
    return invalid_argument("pad has " + std::to_string(pad.size()) +
                            " entries, expected two for each of up to " +
                            std::to_string(shape.size()) + " dims");
  Padding p{Dims(shape.size(), 0), Dims(shape.size(), 0), shape};
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t d = shape.size() - 1 - i;
    p.before[d] = pad[2 * i];
    p.behind[d] = pad[2 * i + 1];
    if (__builtin_add_overflow(p.shape[d], p.before[d], &p.shape[d]) ||
        __builtin_add_overflow(p.shape[d], p.behind[d], &p.shape[d]) || p.shape[d] < 0 ||
        p.before[d] < -shape[d] || p.behind[d] < -shape[d])
      return invalid_argument("pad makes dim " + std::to_string(d) + " of " +
                              std::to_string(shape[d]) + " elements less than empty, or too large");
  }
  return p;
}

}  // namespace shw::ops
