// bmm: products of two batches of matrices, [b,m,k] × [b,k,n].
#include "runtime/cpu/contraction.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_contraction(args, "bmk,bkn->bmn"); }

}  // namespace

extern const Kernel kBmm;
constinit const Kernel kBmm = {"bmm", prepare};

}  // namespace shw::runtime::cpu
