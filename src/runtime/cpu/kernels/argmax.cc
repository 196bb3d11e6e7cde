// argmax(x): the index of the first largest element along attrs.dim, or in the whole tensor.
#include "runtime/cpu/extreme.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_extreme_index(args, Extreme::kLargest); }

}  // namespace

extern const Kernel kArgmax;
constinit const Kernel kArgmax = {"argmax", prepare};

}  // namespace shw::runtime::cpu
