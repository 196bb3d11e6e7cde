// le: a ≤ b, with broadcasting; either side may be a number.
#include <functional>

#include "runtime/cpu/comparison.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_comparison<std::less_equal<>>(args); }

}  // namespace

extern const Kernel kLe;
constinit const Kernel kLe = {"le", prepare};

}  // namespace shw::runtime::cpu
