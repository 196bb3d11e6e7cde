// sort(x): the values sorted along attrs.dim (attrs.descending: largest first), and the index that
// each had.
#include "runtime/cpu/ranking.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  return prepare_ranking(args, sorts_down(args.attrs));
}

}  // namespace

extern const Kernel kSort;
constinit const Kernel kSort = {"sort", prepare};

}  // namespace shw::runtime::cpu
