// full_like: attrs.fill_value everywhere; the operand only determines the shape.
#include "runtime/cpu/fill.h"

namespace shw::runtime::cpu {
extern const Kernel kFullLike;
constinit const Kernel kFullLike = {"full_like", prepare_fill};

}  // namespace shw::runtime::cpu
