// any: whether any element over attrs.dims (none: all dims) is nonzero; reduced dims stay with size
// 1 if attrs.keepdim.
#include "runtime/cpu/reduction.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_reduction(args, Reduction::kAny); }

}  // namespace

extern const Kernel kAny;
constinit const Kernel kAny = {"any", prepare};

}  // namespace shw::runtime::cpu
