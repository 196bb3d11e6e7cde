// floor: the largest whole number ≤ x.
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Floor {
  Int operator()(Int x) const { return x; }
  template <std::floating_point T>
  T operator()(T x) const {
    return std::floor(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Floor{}); }

}  // namespace

extern const Kernel kFloor;
constinit const Kernel kFloor = {"floor", prepare};

}  // namespace shw::runtime::cpu
