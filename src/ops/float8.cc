// Which ops take 8-bit floats.
#include "ops/op_def.h"

namespace shw {

Status check_float8(const OpDef& def, std::span<const OptionalType> types) {
  if (def.takes_float8 || def.is_view || def.opaque) return {};
  for (const OptionalType& t : types)
    if (t && is_float8(t->dtype))
      return unimplemented("there is no arithmetic in " + std::string(dtype_name(t->dtype)) +
                           ": cast to a wider float first");
  return {};
}

}  // namespace shw
