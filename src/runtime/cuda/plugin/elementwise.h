// Steps that are one pointwise operation.
#pragma once
#include <optional>

#include "runtime/comparison_type.h"
#include "runtime/cuda/plugin/pointwise.h"

namespace shw::runtime::cuda {

// The types in which an operation is defined.
enum class Defined { kAll, kOrdered, kReal, kInteger };  // kOrdered: all but complex; kReal: floats

// A pointwise step. Each operand is an input of the step or a number.
struct Elementwise {
  PointwiseOp op;
  Defined defined;
  std::array<int, 3> inputs = {0, -1, -1};  // -1: no operand, or `number`
  int fixed = -1;                           // which operand is `number`; -1: none
  Number number = {};
  Number parameter = {1, 1};
  std::optional<Dtype> compute = {};  // dtype of the computation; absent: the result's
};
Prepared prepare_elementwise(const KernelArgs& args, const Elementwise& step);

// One tensor.
template <PointwiseOp op, Defined defined>
Prepared unary(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  return prepare_elementwise(args, {op, defined});
}
// Two tensors; the parameter is attribute `key`.
template <PointwiseOp op, Defined defined, AttrKey key = AttrKey::kCount>
Prepared binary(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  Elementwise step{op, defined, {0, 1, -1}};
  if (key != AttrKey::kCount) step.parameter = number_attr(args.attrs, key, 0);
  return prepare_elementwise(args, step);
}
// Two tensors, or one tensor and a number: attribute `self` is the left operand, `other` the right
// one. The parameter is attribute `alpha`.
Prepared prepare_arithmetic(const KernelArgs& args, PointwiseOp op, Defined defined,
                            std::optional<Dtype> compute = {});
template <PointwiseOp op, Defined defined>
Prepared arithmetic(const Context&, const KernelArgs& args) {
  return prepare_arithmetic(args, op, defined);
}
// Comparisons of such operands, in the operands' own type.
template <PointwiseOp op>
Prepared comparison(const Context&, const KernelArgs& args) {
  return prepare_arithmetic(args, op, Defined::kOrdered, comparison_type(args));
}
Prepared prepare_logical_not(const Context& context, const KernelArgs& args);
Prepared prepare_bitwise_not(const Context& context, const KernelArgs& args);
Prepared prepare_clamp(const Context& context, const KernelArgs& args);
Prepared prepare_gelu(const Context& context, const KernelArgs& args);
Prepared prepare_gelu_backward(const Context& context, const KernelArgs& args);
Prepared prepare_dropout_backward(const Context& context, const KernelArgs& args);
Prepared prepare_where(const Context& context, const KernelArgs& args);
Prepared prepare_masked_fill(const Context& context, const KernelArgs& args);
Prepared prepare_pow(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda
