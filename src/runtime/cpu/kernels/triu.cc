// triu(x): sets the elements below diagonal attrs.diagonal of the last two dims to zero.
#include "runtime/cpu/triangle.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_triangle(args, Triangle::kUpper); }

}  // namespace

extern const Kernel kTriu;
constinit const Kernel kTriu = {"triu", prepare};

}  // namespace shw::runtime::cpu
