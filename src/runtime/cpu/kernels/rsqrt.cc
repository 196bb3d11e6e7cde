// rsqrt: 1 / √x.

#include "runtime/cpu/codegen/math.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Rsqrt {
  template <Real T>
  T operator()(T x) const {
    using std::sqrt;
    return T{1} / sqrt(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Rsqrt{}); }

}  // namespace

extern const Kernel kRsqrt;
constinit const Kernel kRsqrt = {"rsqrt", prepare};

}  // namespace shw::runtime::cpu
