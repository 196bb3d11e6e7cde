// slice_scatter(x, src): x, but with src as elements attrs.start, start + attrs.step, … before
// attrs.end of dim attrs.dim.
#include "runtime/cpu/parts.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Part part, sliced_part(args, 1));
  return prepare_parts(args, {part}, Ground::kInput);
}

}  // namespace

extern const Kernel kSliceScatter;
constinit const Kernel kSliceScatter = {"slice_scatter", prepare};

}  // namespace shw::runtime::cpu
