// gelu: x·Φ(x); attrs.approximate = "tanh": by a hyperbolic tangent.

#include "runtime/cpu/gelu.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Exact {
  using Long = void;
  template <Real T>
  T operator()(T x) const {
    return x * normal_below(x);
  }
};
struct ByTanh {
  using Long = void;
  template <Real T>
  T operator()(T x) const {
    return T{0.5} * x * (1 + fast_tanh(gelu_inner(x)));
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  return gelu_by_tanh(args) ? prepare_unary(args, ByTanh{}) : prepare_unary(args, Exact{});
}

}  // namespace

extern const Kernel kGelu;
constinit const Kernel kGelu = {"gelu", prepare};

}  // namespace shw::runtime::cpu
