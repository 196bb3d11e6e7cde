// sign: −1, 0 or 1.
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Sign {
  Int operator()(Int x) const { return {(x.v > 0) - (x.v < 0)}; }
  template <std::floating_point T>
  T operator()(T x) const {
    return static_cast<T>((x > 0) - (x < 0));
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Sign{}); }

}  // namespace

extern const Kernel kSign;
constinit const Kernel kSign = {"sign", prepare};

}  // namespace shw::runtime::cpu
