// silu: x / (1 + e⁻ˣ).

#include "runtime/cpu/codegen/math.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Silu {
  using Long = void;
  template <Real T>
  T operator()(T x) const {
    return x / (1 + fast_exp(-x));
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Silu{}); }

}  // namespace

extern const Kernel kSilu;
constinit const Kernel kSilu = {"silu", prepare};

}  // namespace shw::runtime::cpu
