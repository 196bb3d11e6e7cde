// Steps that are one pointwise operation.
#pragma once
#include "runtime/cuda/plugin/pointwise.h"

namespace shw::runtime::cuda {

// The types in which an operation is defined.
enum class Defined { kAll, kOrdered, kReal };  // kOrdered: all but complex; kReal: floats

// Where the operands of a pointwise step come from: inputs of the step, or a number.
struct Elementwise {
  PointwiseOp op;
  Defined defined;
  std::array<int, 2> inputs = {0, -1};  // -1: none, or the number
  int fixed = -1;                       // the operand that is `number`; -1: none
  Number number = {};
  Number parameter = {1, 1};
};
Prepared prepare_elementwise(const KernelArgs& args, const Elementwise& step);

// One tensor.
template <PointwiseOp op, Defined defined>
Prepared unary(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  return prepare_elementwise(args, {op, defined});
}
// Two tensors. The parameter is attribute `key`.
template <PointwiseOp op, Defined defined, AttrKey key = AttrKey::kCount>
Prepared binary(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  Elementwise step{op, defined, {0, 1}};
  if (key != AttrKey::kCount) step.parameter = number_attr(args.attrs, key, 0);
  return prepare_elementwise(args, step);
}
// Two tensors, or one tensor and a number: attribute `self` on the left, `other` on the right. The
// parameter is attribute `alpha`.
Prepared prepare_arithmetic(const KernelArgs& args, PointwiseOp op, Defined defined);
template <PointwiseOp op, Defined defined>
Prepared arithmetic(const Context&, const KernelArgs& args) {
  return prepare_arithmetic(args, op, defined);
}
Prepared prepare_pow(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda
