// amin: the smallest element over attrs.dims (none: all dims); reduced dims stay with size 1 if
// attrs.keepdim.
#include "runtime/cpu/reduction.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_reduction(args, Reduction::kMin); }

}  // namespace

extern const Kernel kAmin;
constinit const Kernel kAmin = {"amin", prepare};

}  // namespace shw::runtime::cpu
