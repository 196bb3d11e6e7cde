// max(x): the largest elements along attrs.dim, and the index of their first occurrence.
#include "runtime/cpu/extreme.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_extreme(args, Extreme::kLargest); }

}  // namespace

extern const Kernel kMax;
constinit const Kernel kMax = {"max", prepare};

}  // namespace shw::runtime::cpu
