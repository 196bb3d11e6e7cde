// cos: the cosine of x radians.
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Cos {
  template <std::floating_point T>
  T operator()(T x) const {
    return std::cos(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Cos{}); }

}  // namespace

extern const Kernel kCos;
constinit const Kernel kCos = {"cos", prepare};

}  // namespace shw::runtime::cpu
