// clone: copies any window, with the strides of the result's type.
#include "runtime/cpu/move.h"

namespace shw::runtime::cpu {

extern const Kernel kClone;
constinit const Kernel kClone = {"clone", prepare_move};

}  // namespace shw::runtime::cpu
