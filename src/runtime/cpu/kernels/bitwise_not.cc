// bitwise_not: inverts every bit of an integer, or a truth value.
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Not {
  Int operator()(Int x) const { return {~x.v}; }
};
struct NotTrue {
  Int operator()(Int x) const { return {x.v == 0}; }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  if (args.outputs[0]->dtype == Dtype::kBool) return prepare_unary(args, NotTrue{});
  return prepare_unary(args, Not{});
}

}  // namespace

extern const Kernel kBitwiseNot;
constinit const Kernel kBitwiseNot = {"bitwise_not", prepare};

}  // namespace shw::runtime::cpu
