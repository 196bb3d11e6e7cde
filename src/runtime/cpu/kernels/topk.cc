// topk(x): the first of the sorted values along attrs.dim (largest first, unless attrs.largest is
// false), and the index that each had.
#include "runtime/cpu/ranking.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  return prepare_ranking(args, takes_largest(args.attrs));
}

}  // namespace

extern const Kernel kTopk;
constinit const Kernel kTopk = {"topk", prepare};

}  // namespace shw::runtime::cpu
