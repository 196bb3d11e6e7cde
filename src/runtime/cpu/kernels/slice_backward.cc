// slice_backward(grad): zeros, with the gradient as elements attrs.start, start + attrs.step, …
// before attrs.end of dim attrs.dim.
#include "runtime/cpu/parts.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Part part, sliced_part(args, 0));
  return prepare_parts(args, {part}, Ground::kZeros);
}

}  // namespace

extern const Kernel kSliceBackward;
constinit const Kernel kSliceBackward = {"slice_backward", prepare};

}  // namespace shw::runtime::cpu
