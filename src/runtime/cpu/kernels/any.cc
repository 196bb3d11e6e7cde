// any: whether one element over attrs.dims (none: all) is not zero; they stay with size 1 if
// attrs.keepdim.
#include "runtime/cpu/reduction.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_reduction(args, Reduction::kAny); }

}  // namespace

extern const Kernel kAny;
constinit const Kernel kAny = {"any", prepare};

}  // namespace shw::runtime::cpu
