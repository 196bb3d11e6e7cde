// rand(run_seed?): numbers in [0, 1), by attrs.seed, the seed of the run and an element's
// place in the whole tensor.
#include "runtime/cpu/draw.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_draw(args, random_unit, 0); }

}  // namespace

extern const Kernel kRand;
constinit const Kernel kRand = {"rand", prepare};

}  // namespace shw::runtime::cpu
