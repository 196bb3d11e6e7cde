// scalar_tensor: attrs.fill_value as a tensor without dims.
#include "runtime/cpu/fill.h"

namespace shw::runtime::cpu {
extern const Kernel kScalarTensor;
constinit const Kernel kScalarTensor = {"scalar_tensor", prepare_fill};

}  // namespace shw::runtime::cpu
