// to_copy: the elements in another dtype, row-major; rows.h says how they are rounded.
#include "runtime/cpu/move.h"

namespace shw::runtime::cpu {
extern const Kernel kToCopy;
constinit const Kernel kToCopy = {"to_copy", prepare_move};

}  // namespace shw::runtime::cpu
