// floor_divide: ⌊a/b⌋, with broadcasting. An integer divided by zero gives zero.
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct FloorDivide {
  Int operator()(Int a, Int b) const {
    if (b.v == 0) return {};
    if (b.v == -1) return -a;
    const int64_t q = a.v / b.v;
    return {a.v % b.v != 0 && (a.v < 0) != (b.v < 0) ? q - 1 : q};
  }
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return std::floor(a / b);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_binary(args, FloorDivide{}); }

}  // namespace

extern const Kernel kFloorDivide;
constinit const Kernel kFloorDivide = {"floor_divide", prepare};

}  // namespace shw::runtime::cpu
