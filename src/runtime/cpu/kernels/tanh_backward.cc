// tanh_backward(grad, y): grad · (1 − y²), y the tanh.

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct TanhBackward {
  template <Real T>
  T operator()(T grad, T y) const {
    return grad * (1 - y * y);
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  return prepare_pointwise(args, std::array<size_t, 2>{0, 1}, TanhBackward{});
}

}  // namespace

extern const Kernel kTanhBackward;
constinit const Kernel kTanhBackward = {"tanh_backward", prepare};

}  // namespace shw::runtime::cpu
