// cat: concatenates the inputs along attrs.dim.
#include "runtime/cpu/parts.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const std::vector<Part> parts, joined_parts(args));
  return prepare_parts(args, parts, Ground::kNone);
}

}  // namespace

extern const Kernel kCat;
constinit const Kernel kCat = {"cat", prepare};

}  // namespace shw::runtime::cpu
