// threshold_backward(grad, x): grad where x > attrs.threshold, else 0.
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct ThresholdBackward {
  Scalar threshold;
  template <class T>
  requires(!std::is_same_v<T, Complex>) T operator()(T grad, T x) const {
    return select_less_equal(x, threshold.as<T>(), T{}, grad);  // NaN passes, as in ATen
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  return prepare_pointwise(args, std::array<size_t, 2>{0, 1},
                           ThresholdBackward{scalar_attr(args.attrs, AttrKey::kThreshold, 0)});
}

}  // namespace

extern const Kernel kThresholdBackward;
constinit const Kernel kThresholdBackward = {"threshold_backward", prepare};

}  // namespace shw::runtime::cpu
