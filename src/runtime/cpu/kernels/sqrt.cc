// sqrt: √x.
#include <cmath>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Sqrt {
  template <Real T>
  T operator()(T x) const {
    using std::sqrt;
    return sqrt(x);
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Sqrt{}); }

}  // namespace

extern const Kernel kSqrt;
constinit const Kernel kSqrt = {"sqrt", prepare};

}  // namespace shw::runtime::cpu
