// exp: e^x.

#include "runtime/cpu/codegen/math.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Exp {
  using Long = void;
  template <Real T>
  T operator()(T x) const {
    return fast_exp(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Exp{}); }

}  // namespace

extern const Kernel kExp;
constinit const Kernel kExp = {"exp", prepare};

}  // namespace shw::runtime::cpu
