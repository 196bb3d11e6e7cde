// erf: the error function.

#include "runtime/cpu/codegen/math.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Erf {
  using Long = void;
  template <Real T>
  T operator()(T x) const {
    return fast_erf(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Erf{}); }

}  // namespace

extern const Kernel kErf;
constinit const Kernel kErf = {"erf", prepare};

}  // namespace shw::runtime::cpu
