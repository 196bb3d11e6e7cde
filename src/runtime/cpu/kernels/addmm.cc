// addmm(c, a, b): attrs.beta·c + attrs.alpha·a×b.
#include "runtime/cpu/biased_product.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_biased_product(args, "mk,kn->mn"); }

}  // namespace

extern const Kernel kAddmm;
constinit const Kernel kAddmm = {"addmm", prepare};

}  // namespace shw::runtime::cpu
