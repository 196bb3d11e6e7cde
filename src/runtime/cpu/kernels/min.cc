// min(x): the smallest elements along attrs.dim, and the index of their first occurrence.
#include "runtime/cpu/extreme.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_extreme(args, Extreme::kSmallest); }

}  // namespace

extern const Kernel kMin;
constinit const Kernel kMin = {"min", prepare};

}  // namespace shw::runtime::cpu
