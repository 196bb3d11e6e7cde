// argmin(x): the index of the first smallest element along attrs.dim, or in the whole tensor.
#include "runtime/cpu/extreme.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_extreme_index(args, Extreme::kSmallest); }

}  // namespace

extern const Kernel kArgmin;
constinit const Kernel kArgmin = {"argmin", prepare};

}  // namespace shw::runtime::cpu
