// native_dropout_backward(grad, mask): grad·attrs.scale where the mask is true, else 0.
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct DropoutBackward {
  Scalar scale;
  template <std::floating_point T>
  T operator()(T grad, T mask) const {
    return mask != 0 ? grad * scale.as<T>() : T{0};
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  return prepare_pointwise(args, std::array<size_t, 2>{0, 1},
                           DropoutBackward{scalar_attr(args.attrs, AttrKey::kScale, 1)});
}

}  // namespace

extern const Kernel kDropoutBackward;
constinit const Kernel kDropoutBackward = {"native_dropout_backward", prepare};

}  // namespace shw::runtime::cpu
