#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {

Scalar scalar_attr(const Attrs& attrs, AttrKey key, int64_t otherwise) {
  const AttrValue* value = attrs.find(key);
  if (value == nullptr) return {static_cast<double>(otherwise), otherwise};
  if (const auto* i = std::get_if<int64_t>(value)) return {static_cast<double>(*i), *i};
  if (const auto* b = std::get_if<bool>(value)) return {*b ? 1.0 : 0.0, *b ? 1 : 0};
  if (const auto* d = std::get_if<double>(value)) {
    // Integers take a number with a fraction only where the types promise that it has none.
    const double bounded = std::clamp(*d, -0x1p62, 0x1p62);
    return {*d, bounded == bounded ? static_cast<int64_t>(bounded) : 0};
  }
  return {static_cast<double>(otherwise), otherwise};
}

}  // namespace shw::runtime::cpu
