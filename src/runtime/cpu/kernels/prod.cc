// prod: the product over attrs.dims (none: all dims); reduced dims stay with size 1 if
// attrs.keepdim.
#include "runtime/cpu/reduction.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_reduction(args, Reduction::kProduct); }

}  // namespace

extern const Kernel kProd;
constinit const Kernel kProd = {"prod", prepare};

}  // namespace shw::runtime::cpu
