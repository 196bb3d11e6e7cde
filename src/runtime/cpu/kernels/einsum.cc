// einsum: the sum over products of two operands that attrs.equation specifies.
#include "runtime/cpu/contraction.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  return prepare_contraction(args, args.attrs.get_string(AttrKey::kEquation));
}

}  // namespace

extern const Kernel kEinsum;
constinit const Kernel kEinsum = {"einsum", prepare};

}  // namespace shw::runtime::cpu
