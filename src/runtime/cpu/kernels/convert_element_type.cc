// convert_element_type: converts the elements to another dtype; rows.h describes the rounding.
#include "runtime/cpu/move.h"

namespace shw::runtime::cpu {

extern const Kernel kConvertElementType;
constinit const Kernel kConvertElementType = {"convert_element_type", prepare_move};

}  // namespace shw::runtime::cpu
