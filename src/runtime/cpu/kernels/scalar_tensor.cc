// scalar_tensor: attrs.fill_value.
#include "runtime/cpu/fill.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_fill(args); }

}  // namespace

extern const Kernel kScalarTensor;
constinit const Kernel kScalarTensor = {"scalar_tensor", prepare};

}  // namespace shw::runtime::cpu
