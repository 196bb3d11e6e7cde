// ceil: the smallest whole number ≥ x.
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Ceil {
  Int operator()(Int x) const { return x; }
  template <std::floating_point T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Ceil{}); }

}  // namespace

extern const Kernel kCeil;
constinit const Kernel kCeil = {"ceil", prepare};

}  // namespace shw::runtime::cpu
