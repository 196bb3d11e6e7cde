// randn(run_seed?): numbers of the standard normal distribution, by attrs.seed, the seed of the run
// and an element's place in the whole tensor.
#include "runtime/cpu/draw.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_draw(args, random_normal, 0); }

}  // namespace

extern const Kernel kRandn;
constinit const Kernel kRandn = {"randn", prepare};

}  // namespace shw::runtime::cpu
