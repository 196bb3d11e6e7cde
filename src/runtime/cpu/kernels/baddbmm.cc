// baddbmm(c, a, b): attrs.beta·c + attrs.alpha·a×b, batch by batch.
#include "runtime/cpu/biased_product.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_biased_product(args, "bmk,bkn->bmn"); }

}  // namespace

extern const Kernel kBaddbmm;
constinit const Kernel kBaddbmm = {"baddbmm", prepare};

}  // namespace shw::runtime::cpu
