// round: the nearest integer; ties go to the even one.
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Round {
  Int operator()(Int x) const { return x; }
  template <std::floating_point T>
  T operator()(T x) const {
    return std::nearbyint(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Round{}); }

}  // namespace

extern const Kernel kRound;
constinit const Kernel kRound = {"round", prepare};

}  // namespace shw::runtime::cpu
