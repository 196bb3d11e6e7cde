// rsqrt: 1 / √x.
#include <concepts>

#include "runtime/cpu/math.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Rsqrt {
  template <std::floating_point T>
  T operator()(T x) const {
    return T{1} / std::sqrt(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Rsqrt{}); }

}  // namespace

extern const Kernel kRsqrt;
constinit const Kernel kRsqrt = {"rsqrt", prepare};

}  // namespace shw::runtime::cpu
