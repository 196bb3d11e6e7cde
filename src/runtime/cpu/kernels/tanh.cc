// tanh.

#include "runtime/cpu/codegen/math.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Tanh {
  using Long = void;
  template <Real T>
  T operator()(T x) const {
    return fast_tanh(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Tanh{}); }

}  // namespace

extern const Kernel kTanh;
constinit const Kernel kTanh = {"tanh", prepare};

}  // namespace shw::runtime::cpu
