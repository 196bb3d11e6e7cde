// full: attrs.fill_value everywhere.
#include "runtime/cpu/fill.h"

namespace shw::runtime::cpu {
extern const Kernel kFull;
constinit const Kernel kFull = {"full", prepare_fill};

}  // namespace shw::runtime::cpu
