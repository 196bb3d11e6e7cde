// dtype_cast: the same as convert_element_type; only the planner distinguishes the two.
#include "runtime/cpu/move.h"

namespace shw::runtime::cpu {

extern const Kernel kDtypeCast;
constinit const Kernel kDtypeCast = {"dtype_cast", prepare_move};

}  // namespace shw::runtime::cpu
