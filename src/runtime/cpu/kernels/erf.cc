// erf: the error function.
#include <concepts>

#include "runtime/cpu/math.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Erf {
  using Long = void;
  template <std::floating_point T>
  T operator()(T x) const {
    return fast_erf(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Erf{}); }

}  // namespace

extern const Kernel kErf;
constinit const Kernel kErf = {"erf", prepare};

}  // namespace shw::runtime::cpu
