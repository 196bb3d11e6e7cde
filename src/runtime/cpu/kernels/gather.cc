// gather(x, indices): the elements of x that the indices select along attrs.dim.
#include "runtime/cpu/lookup.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  SHW_ASSIGN_OR_RETURN(const Lookup lookup,
                       lookup_elements(args, *args.inputs[0], *args.inputs[1], *args.outputs[0]));
  return prepare_read(args, lookup);
}

}  // namespace

extern const Kernel kGather;
constinit const Kernel kGather = {"gather", prepare};

}  // namespace shw::runtime::cpu
