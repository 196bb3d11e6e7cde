// sum: the sum over attrs.dims (none: all dims), which stay with size 1 if attrs.keepdim.
#include "runtime/cpu/reduction.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_reduction(args, Reduction::kSum); }

}  // namespace

extern const Kernel kSum;
constinit const Kernel kSum = {"sum", prepare};

}  // namespace shw::runtime::cpu
