// gelu_backward(grad, x): grad times the derivative of gelu at x; attrs.approximate as there.

#include "runtime/cpu/gelu.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Exact {
  template <Real T>
  T operator()(T grad, T x) const {
    const T density =
        fast_exp(T{-0.5} * x * x) * static_cast<T>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    return grad * (normal_below(x) + x * density);
  }
};
struct ByTanh {
  template <Real T>
  T operator()(T grad, T x) const {
    const T t = fast_tanh(gelu_inner(x));
    return grad * T{0.5} * (1 + t + x * (1 - t * t) * gelu_inner_slope(x));
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const std::array<size_t, 2> both{0, 1};
  return gelu_by_tanh(args) ? prepare_pointwise(args, both, ByTanh{})
                            : prepare_pointwise(args, both, Exact{});
}

}  // namespace

extern const Kernel kGeluBackward;
constinit const Kernel kGeluBackward = {"gelu_backward", prepare};

}  // namespace shw::runtime::cpu
