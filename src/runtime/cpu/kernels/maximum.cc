// maximum: the larger of two values, with broadcasting. NaN if either is NaN.
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Maximum {
  template <Known T>
  requires(!std::is_same_v<T, Complex>) T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      if (a != a) return a;
    return pick(a, b);
  }

 private:
  static Int pick(Int a, Int b) { return a < b ? b : a; }
  template <class T>
  static T pick(T a, T b) {
    return a >= b ? a : b;  // b if b is NaN
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_binary(args, Maximum{}); }

}  // namespace

extern const Kernel kMaximum;
constinit const Kernel kMaximum = {"maximum", prepare};

}  // namespace shw::runtime::cpu
