// rand: numbers in [0, 1), by attrs.seed and an element's place in the whole tensor.
#include "runtime/cpu/draw.h"
#include "runtime/cpu/random.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_draw(args, random_unit); }

}  // namespace

extern const Kernel kRand;
constinit const Kernel kRand = {"rand", prepare};

}  // namespace shw::runtime::cpu
