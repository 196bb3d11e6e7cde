// convert_element_type: the elements in another dtype; rows.h says how they are rounded.
#include "runtime/cpu/move.h"

namespace shw::runtime::cpu {

extern const Kernel kConvertElementType;
constinit const Kernel kConvertElementType = {"convert_element_type", prepare_move};

}  // namespace shw::runtime::cpu
