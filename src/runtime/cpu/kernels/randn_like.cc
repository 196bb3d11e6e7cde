// randn_like(like, run_seed?): numbers of the standard normal distribution, by attrs.seed, the seed
// of the run and an element's place in the whole tensor.
#include "runtime/cpu/draw.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_draw(args, random_normal, 1); }

}  // namespace

extern const Kernel kRandnLike;
constinit const Kernel kRandnLike = {"randn_like", prepare};

}  // namespace shw::runtime::cpu
