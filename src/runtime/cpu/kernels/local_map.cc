// local_map: a manual region, whose body is not ours.
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) {
  return unimplemented("the manual region '" +
                       std::string(args.attrs.get_string(AttrKey::kRegion)) +
                       "' has no body here: bodies cannot be registered yet");
}

}  // namespace

extern const Kernel kLocalMap;
constinit const Kernel kLocalMap = {"local_map", prepare};

}  // namespace shw::runtime::cpu
