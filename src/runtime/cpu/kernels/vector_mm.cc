// vector_mm: mm on vector units only, whether or not the processor has a matrix unit. No operation
// uses it; `shardwise bench` compares with it.
#include "runtime/cpu/contraction.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_contraction(args, "mk,kn->mn", true); }

}  // namespace

extern const Kernel kVectorMm;
constinit const Kernel kVectorMm = {"vector_mm", prepare};

}  // namespace shw::runtime::cpu
