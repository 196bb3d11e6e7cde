// relu: max(x, 0). NaN stays NaN.
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Relu {
  template <class T>
  requires(!std::is_same_v<T, Complex>) T operator()(T x) const {
    return select_less(x, T{}, T{}, x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Relu{}); }

}  // namespace

extern const Kernel kRelu;
constinit const Kernel kRelu = {"relu", prepare};

}  // namespace shw::runtime::cpu
