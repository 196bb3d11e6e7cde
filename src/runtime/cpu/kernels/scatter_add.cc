// scatter_add(x, indices, src): a copy of x; the elements of src are added at the positions that
// the indices give along attrs.dim, in row-major order.
#include "runtime/cpu/combine.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_scatter(args, Combine::kAdd); }

}  // namespace

extern const Kernel kScatterAdd;
constinit const Kernel kScatterAdd = {"scatter_add", prepare};

}  // namespace shw::runtime::cpu
