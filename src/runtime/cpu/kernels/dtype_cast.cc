// dtype_cast: as convert_element_type; the planner tells the two apart, the runtime does not.
#include "runtime/cpu/move.h"

namespace shw::runtime::cpu {

extern const Kernel kDtypeCast;
constinit const Kernel kDtypeCast = {"dtype_cast", prepare_move};

}  // namespace shw::runtime::cpu
