// all: whether all elements over attrs.dims (none: all dims) are nonzero; reduced dims stay with
// size 1 if attrs.keepdim.
#include "runtime/cpu/reduction.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_reduction(args, Reduction::kAll); }

}  // namespace

extern const Kernel kAll;
constinit const Kernel kAll = {"all", prepare};

}  // namespace shw::runtime::cpu
