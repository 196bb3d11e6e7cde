// log_softmax_backward_data(grad, y): grad − eʸ·Σ grad along attrs.dim.
#include "runtime/cpu/softmax.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_softmax_backward(args, Softmax::kLog); }

}  // namespace

extern const Kernel kLogSoftmaxBackward;
constinit const Kernel kLogSoftmaxBackward = {"log_softmax_backward_data", prepare};

}  // namespace shw::runtime::cpu
