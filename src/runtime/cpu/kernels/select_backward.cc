// select_backward(grad): zeros, with the gradient at index attrs.index of dim attrs.dim.
#include "runtime/cpu/parts.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Part part, selected_part(args, 0));
  return prepare_parts(args, {part}, Ground::kZeros);
}

}  // namespace

extern const Kernel kSelectBackward;
constinit const Kernel kSelectBackward = {"select_backward", prepare};

}  // namespace shw::runtime::cpu
