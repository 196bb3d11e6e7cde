// remainder: a − b·⌊a/b⌋, with broadcasting. The remainder of an integer by zero is zero.
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Remainder {
  Int operator()(Int a, Int b) const {
    if (b.v == 0 || b.v == -1) return {};
    const int64_t r = a.v % b.v;
    return {r != 0 && (r < 0) != (b.v < 0) ? r + b.v : r};
  }
  template <std::floating_point T>
  T operator()(T a, T b) const {
    const T r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_binary(args, Remainder{}); }

}  // namespace

extern const Kernel kRemainder;
constinit const Kernel kRemainder = {"remainder", prepare};

}  // namespace shw::runtime::cpu
