// amax: the largest element over attrs.dims (none: all dims); reduced dims stay with size 1 if
// attrs.keepdim.
#include "runtime/cpu/reduction.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_reduction(args, Reduction::kMax); }

}  // namespace

extern const Kernel kAmax;
constinit const Kernel kAmax = {"amax", prepare};

}  // namespace shw::runtime::cpu
