// sin: the sine of x radians.
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Sin {
  template <std::floating_point T>
  T operator()(T x) const {
    return std::sin(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Sin{}); }

}  // namespace

extern const Kernel kSin;
constinit const Kernel kSin = {"sin", prepare};

}  // namespace shw::runtime::cpu
