// neg: -x.
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Neg {
  template <class T>
  T operator()(T x) const {
    return -x;
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Neg{}); }

}  // namespace

extern const Kernel kNeg;
constinit const Kernel kNeg = {"neg", prepare};

}  // namespace shw::runtime::cpu
