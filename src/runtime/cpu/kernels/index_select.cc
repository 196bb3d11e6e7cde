// index_select(x, indices): the slices of x that a 1-D tensor of indices selects along attrs.dim.
#include "runtime/cpu/lookup.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  SHW_ASSIGN_OR_RETURN(const Lookup lookup,
                       lookup_slices(args, *args.inputs[0], *args.inputs[1], *args.outputs[0]));
  return prepare_read_slices(args, lookup);
}

}  // namespace

extern const Kernel kIndexSelect;
constinit const Kernel kIndexSelect = {"index_select", prepare};

}  // namespace shw::runtime::cpu
