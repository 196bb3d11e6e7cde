// full: attrs.fill_value everywhere.
#include "runtime/cpu/fill.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) { return prepare_fill(args); }

}  // namespace

extern const Kernel kFull;
constinit const Kernel kFull = {"full", prepare};

}  // namespace shw::runtime::cpu
