// mean: the mean over attrs.dims (none: all dims), which stay with size 1 if attrs.keepdim.
#include "runtime/cpu/reduction.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_reduction(args, Reduction::kMean); }

}  // namespace

extern const Kernel kMean;
constinit const Kernel kMean = {"mean", prepare};

}  // namespace shw::runtime::cpu
