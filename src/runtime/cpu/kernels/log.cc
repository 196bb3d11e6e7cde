// log: the natural logarithm.
#include <concepts>

#include "runtime/cpu/codegen/math.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Log {
  template <std::floating_point T>
  T operator()(T x) const {
    return fast_log(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Log{}); }

}  // namespace

extern const Kernel kLog;
constinit const Kernel kLog = {"log", prepare};

}  // namespace shw::runtime::cpu
