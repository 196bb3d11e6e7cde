// ge: a ≥ b, with broadcasting; either side may be a number.
#include <functional>

#include "runtime/cpu/comparison.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_comparison<std::greater_equal<>>(args); }

}  // namespace

extern const Kernel kGe;
constinit const Kernel kGe = {"ge", prepare};

}  // namespace shw::runtime::cpu
