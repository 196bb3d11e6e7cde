// atan2: the angle of the point (b, a), with broadcasting.
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Atan2 {
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return static_cast<T>(std::atan2(static_cast<double>(a), static_cast<double>(b)));
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_binary(args, Atan2{}); }

}  // namespace

extern const Kernel kAtan2;
constinit const Kernel kAtan2 = {"atan2", prepare};

}  // namespace shw::runtime::cpu
