// scatter_add(x, indices, src): x, to which the elements of src are added where the indices point
// along attrs.dim, in row-major order.
#include "runtime/cpu/combine.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_scatter(args, Combine::kAdd); }

}  // namespace

extern const Kernel kScatterAdd;
constinit const Kernel kScatterAdd = {"scatter_add", prepare};

}  // namespace shw::runtime::cpu
