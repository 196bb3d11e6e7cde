#include "runtime/cuda/plugin/elementwise.h"

#include <limits>

#include "runtime/strided.h"

namespace shw::runtime::cuda {
namespace {

class ElementwiseKernel final : public CudaKernel {
 public:
  ElementwiseKernel(const Pointwise& pointwise, const std::array<int, 3>& inputs, size_t output)
      : pointwise_(pointwise), inputs_(inputs), output_(output) {}
  std::optional<StepFormula> formula() const override { return pointwise_.formula(inputs_); }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    const auto input = [&](size_t operand) {
      return inputs_[operand] < 0 ? nullptr : buffers[inputs_[operand]];
    };
    return pointwise_.run(stream, buffers[output_], input(0), input(1), input(2));
  }

 private:
  const Pointwise pointwise_;
  const std::array<int, 3> inputs_;
  const size_t output_;
};

bool is_defined(Defined defined, Dtype dtype) {
  if (defined == Defined::kInteger) return !is_floating(dtype) && !is_complex(dtype);
  return defined == Defined::kAll || is_floating(dtype) ||
         (defined == Defined::kOrdered && !is_complex(dtype));
}

}  // namespace

Prepared prepare_elementwise(const KernelArgs& args, const Elementwise& step) {
  const TensorType& out = *args.outputs[0];
  const Dtype compute = step.compute.value_or(out.dtype);
  if (!is_defined(step.defined, compute))
    return unimplemented("the CUDA backend cannot do this in " + std::string(dtype_name(compute)));
  std::array<PointwiseOperand, 3> operands;
  for (size_t o = 0; o < operands.size(); ++o) {
    if (step.inputs[o] < 0) continue;
    const TensorType& in = *args.inputs[static_cast<size_t>(step.inputs[o])];
    if (!broadcasts_to(in.shape, out.shape))
      return bad_types(to_string(in) + " does not broadcast to " + to_string(out));
    operands[o] = {&in, broadcast_strides_bytes(in, out.shape)};
  }
  Pointwise pointwise(step.op, compute, out, operands[0], operands[1], operands[2]);
  pointwise.set_parameter(step.parameter);
  if (step.fixed >= 0) pointwise.set_fixed(step.fixed, step.number);
  return make_kernel<ElementwiseKernel>(pointwise, step.inputs, args.inputs.size());
}

Prepared prepare_arithmetic(const KernelArgs& args, PointwiseOp op, Defined defined,
                            std::optional<Dtype> compute) {
  const auto there = [&](size_t i) { return i < args.inputs.size() && args.inputs[i] != nullptr; };
  SHW_RETURN_IF_ERROR(expect_operands(args, 0));
  Elementwise step{op, defined, {0, 1, -1}};
  step.compute = compute;
  step.parameter = number_attr(args.attrs, AttrKey::kAlpha, 1);
  if (there(0) && there(1)) return prepare_elementwise(args, step);
  const int tensor = there(0) ? 0 : 1;
  if (!there(static_cast<size_t>(tensor)))
    return invalid_argument("the step has no tensor operand");
  const bool right = tensor == 0 && args.attrs.has(AttrKey::kOther);
  if (!right && !args.attrs.has(AttrKey::kSelf))
    return invalid_argument("the step's second operand is neither a tensor nor a number");
  step.fixed = right ? 1 : 0;
  step.inputs = right ? std::array{tensor, -1, -1} : std::array{-1, tensor, -1};
  step.number = number_attr(args.attrs, right ? AttrKey::kOther : AttrKey::kSelf, 0);
  return prepare_elementwise(args, step);
}

Prepared prepare_logical_not(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  Elementwise step{PointwiseOp::kLogicalNot, Defined::kOrdered};
  step.compute = comparison_type(args);
  return prepare_elementwise(args, step);
}

// Inverts every bit, or the truth value.
Prepared prepare_bitwise_not(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const bool truth = args.outputs[0]->dtype == Dtype::kBool;
  return prepare_elementwise(
      args, {truth ? PointwiseOp::kLogicalNot : PointwiseOp::kBitwiseNot, Defined::kInteger});
}

// An absent limit becomes one that no value exceeds.
Prepared prepare_clamp(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  using Integers = std::numeric_limits<int64_t>;
  const auto limit = [&](AttrKey key, const Number& none) {
    return args.attrs.has(key) ? number_attr(args.attrs, key, 0) : none;
  };
  Elementwise step{PointwiseOp::kClamp, Defined::kOrdered};
  step.parameter = limit(AttrKey::kMin, {-kInfinity, Integers::min()});
  step.fixed = 1;
  step.number = limit(AttrKey::kMax, {kInfinity, Integers::max()});
  return prepare_elementwise(args, step);
}

Prepared prepare_gelu(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const bool by_tanh = args.attrs.get_string(AttrKey::kApproximate) == "tanh";
  return prepare_elementwise(
      args, {by_tanh ? PointwiseOp::kGeluTanh : PointwiseOp::kGelu, Defined::kReal});
}
Prepared prepare_gelu_backward(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const bool by_tanh = args.attrs.get_string(AttrKey::kApproximate) == "tanh";
  return prepare_elementwise(args,
                             {by_tanh ? PointwiseOp::kGeluTanhBackward : PointwiseOp::kGeluBackward,
                              Defined::kReal,
                              {0, 1, -1}});
}

// The gradient times attribute `scale` where the mask is set; otherwise zero.
Prepared prepare_dropout_backward(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  Elementwise step{PointwiseOp::kDropoutBackward, Defined::kReal, {0, 1, -1}};
  step.parameter = number_attr(args.attrs, AttrKey::kScale, 1);
  return prepare_elementwise(args, step);
}

Prepared prepare_where(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3));
  if (args.inputs[0]->dtype != Dtype::kBool)
    return bad_types("the condition is " + to_string(*args.inputs[0]));
  return prepare_elementwise(args, {PointwiseOp::kWhere, Defined::kAll, {0, 1, 2}});
}

// The value is a tensor, or attribute `value`.
Prepared prepare_masked_fill(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  if (args.inputs[1]->dtype != Dtype::kBool)
    return bad_types("the mask is " + to_string(*args.inputs[1]));
  if (args.inputs.size() > 2 && args.inputs[2] != nullptr)
    return prepare_elementwise(args, {PointwiseOp::kWhere, Defined::kAll, {1, 2, 0}});
  Elementwise step{PointwiseOp::kWhere, Defined::kAll, {1, -1, 0}};
  step.fixed = 1;
  step.number = number_attr(args.attrs, AttrKey::kValue, 0);
  return prepare_elementwise(args, step);
}

// Small integer exponents use multiplications, as in ATen.
Prepared prepare_pow(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  if (!args.attrs.has(AttrKey::kExponent)) return invalid_argument("pow has no number as exponent");
  const Number exponent = number_attr(args.attrs, AttrKey::kExponent, 1);
  const double e = exponent.real;
  if (e == 2) return prepare_elementwise(args, {PointwiseOp::kSquare, Defined::kAll});
  if (e == 3) return prepare_elementwise(args, {PointwiseOp::kCube, Defined::kAll});
  const Dtype dtype = args.outputs[0]->dtype;
  if (!is_floating(dtype) && !is_complex(dtype)) {
    if (e < 0 || e != static_cast<double>(exponent.integer))
      return bad_types("an integer power of integers has a whole exponent ≥ 0");
    Elementwise step{PointwiseOp::kIntegerPower, Defined::kOrdered};
    step.parameter = exponent;
    return prepare_elementwise(args, step);
  }
  Elementwise step{e == 0.5    ? PointwiseOp::kSqrt
                   : e == -0.5 ? PointwiseOp::kRsqrt
                   : e == -1   ? PointwiseOp::kReciprocal
                               : PointwiseOp::kPower,
                   Defined::kReal};
  step.parameter = exponent;
  return prepare_elementwise(args, step);
}

}  // namespace shw::runtime::cuda
