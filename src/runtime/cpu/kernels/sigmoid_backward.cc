// sigmoid_backward(grad, y): grad · y · (1 − y), y the sigmoid.

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct SigmoidBackward {
  template <Real T>
  T operator()(T grad, T y) const {
    return grad * y * (1 - y);
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  return prepare_pointwise(args, std::array<size_t, 2>{0, 1}, SigmoidBackward{});
}

}  // namespace

extern const Kernel kSigmoidBackward;
constinit const Kernel kSigmoidBackward = {"sigmoid_backward", prepare};

}  // namespace shw::runtime::cpu
