// reciprocal: 1 / x.
#include <cmath>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Reciprocal {
  template <Real T>
  T operator()(T x) const {
    return T{1} / x;
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Reciprocal{}); }

}  // namespace

extern const Kernel kReciprocal;
constinit const Kernel kReciprocal = {"reciprocal", prepare};

}  // namespace shw::runtime::cpu
