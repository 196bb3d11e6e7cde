// lt: a < b, with broadcasting; either side may be a number.
#include <functional>

#include "runtime/cpu/comparison.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_comparison<std::less<>>(args); }

}  // namespace

extern const Kernel kLt;
constinit const Kernel kLt = {"lt", prepare};

}  // namespace shw::runtime::cpu
