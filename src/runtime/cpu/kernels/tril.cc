// tril(x): sets the elements above diagonal attrs.diagonal of the last two dims to zero.
#include "runtime/cpu/triangle.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_triangle(args, Triangle::kLower); }

}  // namespace

extern const Kernel kTril;
constinit const Kernel kTril = {"tril", prepare};

}  // namespace shw::runtime::cpu
