// gt: a > b, with broadcasting; either side may be a number.
#include <functional>

#include "runtime/cpu/comparison.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_comparison<std::greater<>>(args); }

}  // namespace

extern const Kernel kGt;
constinit const Kernel kGt = {"gt", prepare};

}  // namespace shw::runtime::cpu
