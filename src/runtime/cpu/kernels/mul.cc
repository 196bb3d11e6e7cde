// mul: a·b, with broadcasting; either side may be a number.
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_binary(args, Mul{}); }

}  // namespace

extern const Kernel kMul;
constinit const Kernel kMul = {"mul", prepare};

}  // namespace shw::runtime::cpu
