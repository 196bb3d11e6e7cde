// select_scatter(x, src): a copy of x, with src at index attrs.index of dim attrs.dim.
#include "runtime/cpu/parts.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const Part part, selected_part(args, 1));
  return prepare_parts(args, {part}, Ground::kInput);
}

}  // namespace

extern const Kernel kSelectScatter;
constinit const Kernel kSelectScatter = {"select_scatter", prepare};

}  // namespace shw::runtime::cpu
