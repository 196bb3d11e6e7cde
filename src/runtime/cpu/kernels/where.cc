// where(condition, a, b): a where the condition is true, else b; with broadcasting.
#include "runtime/cpu/where.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3));
  if (args.inputs[0]->dtype != Dtype::kBool)
    return bad_types("the condition is " + to_string(*args.inputs[0]));
  return prepare_pointwise(args, std::array<size_t, 3>{0, 1, 2}, Where{});
}

}  // namespace

extern const Kernel kWhere;
constinit const Kernel kWhere = {"where", prepare};

}  // namespace shw::runtime::cpu
