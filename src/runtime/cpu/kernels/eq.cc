// eq: a = b, with broadcasting; either side may be a number.
#include <functional>

#include "runtime/cpu/comparison.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_comparison<std::equal_to<>>(args); }

}  // namespace

extern const Kernel kEq;
constinit const Kernel kEq = {"eq", prepare};

}  // namespace shw::runtime::cpu
