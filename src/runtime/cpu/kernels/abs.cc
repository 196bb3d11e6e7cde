// abs: |x|.
#include <cmath>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Abs {
  Int operator()(Int x) const { return x < Int{} ? -x : x; }
  template <Real T>
  T operator()(T x) const {
    using std::abs;
    return abs(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Abs{}); }

}  // namespace

extern const Kernel kAbs;
constinit const Kernel kAbs = {"abs", prepare};

}  // namespace shw::runtime::cpu
