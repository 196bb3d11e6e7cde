// softmax(x): eˣ divided by its sum along attrs.dim.
#include "runtime/cpu/softmax.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_softmax(args, Softmax::kPlain); }

}  // namespace

extern const Kernel kSoftmax;
constinit const Kernel kSoftmax = {"softmax", prepare};

}  // namespace shw::runtime::cpu
