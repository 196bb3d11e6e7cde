// silu_backward(grad, x): grad · silu′(x).

#include "runtime/cpu/codegen/math.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct SiluBackward {
  template <Real T>
  T operator()(T grad, T x) const {
    const T s = 1 / (1 + fast_exp(-x));
    return grad * s * (1 + x * (1 - s));
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  return prepare_pointwise(args, std::array<size_t, 2>{0, 1}, SiluBackward{});
}

}  // namespace

extern const Kernel kSiluBackward;
constinit const Kernel kSiluBackward = {"silu_backward", prepare};

}  // namespace shw::runtime::cpu
