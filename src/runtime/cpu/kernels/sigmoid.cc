// sigmoid: 1 / (1 + e^-x).

#include "runtime/cpu/codegen/math.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Sigmoid {
  using Long = void;
  template <Real T>
  T operator()(T x) const {
    return T{1} / (T{1} + fast_exp(-x));
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Sigmoid{}); }

}  // namespace

extern const Kernel kSigmoid;
constinit const Kernel kSigmoid = {"sigmoid", prepare};

}  // namespace shw::runtime::cpu
