// log1p: ln(1 + x).
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Log1p {
  template <std::floating_point T>
  T operator()(T x) const {
    return std::log1p(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Log1p{}); }

}  // namespace

extern const Kernel kLog1p;
constinit const Kernel kLog1p = {"log1p", prepare};

}  // namespace shw::runtime::cpu
