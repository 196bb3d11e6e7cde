// softmax_backward_data(grad, y): y·(grad − Σ grad·y) along attrs.dim.
#include "runtime/cpu/softmax.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_softmax_backward(args, Softmax::kPlain); }

}  // namespace

extern const Kernel kSoftmaxBackward;
constinit const Kernel kSoftmaxBackward = {"softmax_backward_data", prepare};

}  // namespace shw::runtime::cpu
