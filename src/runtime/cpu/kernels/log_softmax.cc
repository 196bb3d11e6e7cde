// log_softmax(x): x minus the logarithm of the sum of eˣ along attrs.dim.
#include "runtime/cpu/softmax.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_softmax(args, Softmax::kLog); }

}  // namespace

extern const Kernel kLogSoftmax;
constinit const Kernel kLogSoftmax = {"log_softmax", prepare};

}  // namespace shw::runtime::cpu
