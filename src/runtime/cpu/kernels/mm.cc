// mm: the product of two matrices, [m,k] × [k,n].
#include "runtime/cpu/contraction.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_contraction(args, "mk,kn->mn"); }

}  // namespace

extern const Kernel kMm;
constinit const Kernel kMm = {"mm", prepare};

}  // namespace shw::runtime::cpu
