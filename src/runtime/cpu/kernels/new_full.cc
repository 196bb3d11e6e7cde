// new_full: attrs.fill_value everywhere; the operand is not read.
#include "runtime/cpu/fill.h"

namespace shw::runtime::cpu {
extern const Kernel kNewFull;
constinit const Kernel kNewFull = {"new_full", prepare_fill};

}  // namespace shw::runtime::cpu
