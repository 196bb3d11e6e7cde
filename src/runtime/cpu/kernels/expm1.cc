// expm1: eˣ − 1.
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Expm1 {
  template <std::floating_point T>
  T operator()(T x) const {
    return std::expm1(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Expm1{}); }

}  // namespace

extern const Kernel kExpm1;
constinit const Kernel kExpm1 = {"expm1", prepare};

}  // namespace shw::runtime::cpu
