// stack: joins the inputs along a new dim, attrs.dim.
#include "runtime/cpu/parts.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const std::vector<Part> parts, stacked_parts(args));
  return prepare_parts(args, parts, Ground::kNone);
}

}  // namespace

extern const Kernel kStack;
constinit const Kernel kStack = {"stack", prepare};

}  // namespace shw::runtime::cpu
