#include "runtime/cuda/plugin/pointwise.h"

#include <algorithm>

#include "runtime/cuda/plugin/loops.h"

namespace shw::runtime::cuda {
namespace {

DeviceKernel kernel_of(ComputeType type) {
  switch (type) {
    case ComputeType::kF32:
      return DeviceKernel::shw_pointwise_f32;
    case ComputeType::kF64:
      return DeviceKernel::shw_pointwise_f64;
    case ComputeType::kI64:
      return DeviceKernel::shw_pointwise_i64;
    case ComputeType::kC64:
      break;
  }
  return DeviceKernel::shw_pointwise_c64;
}

}  // namespace

ComputeType compute_type(Dtype dtype) {
  if (is_complex(dtype)) return ComputeType::kC64;
  if (dtype == Dtype::kF64) return ComputeType::kF64;
  return is_floating(dtype) ? ComputeType::kF32 : ComputeType::kI64;
}

Number number_attr(const Attrs& attrs, AttrKey key, int64_t otherwise) {
  const AttrValue* value = attrs.find(key);
  if (value != nullptr) {
    if (const auto* i = std::get_if<int64_t>(value)) return {static_cast<double>(*i), *i};
    if (const auto* b = std::get_if<bool>(value)) return {*b ? 1.0 : 0.0, *b ? 1 : 0};
    if (const auto* d = std::get_if<double>(value)) {
      // Integers take a number with a fraction only where the types promise that it has none.
      const double bounded = std::clamp(*d, -0x1p62, 0x1p62);
      return {*d, bounded == bounded ? static_cast<int64_t>(bounded) : 0};
    }
  }
  return {static_cast<double>(otherwise), otherwise};
}

Pointwise::Pointwise(PointwiseOp op, Dtype compute, const TensorType& result,
                     const PointwiseOperand& a, const PointwiseOperand& b,
                     const PointwiseOperand& c)
    : compute_(compute_type(compute)), kernel_(kernel_of(compute_)) {
  const auto strides = [&](const PointwiseOperand& o) {
    return o.type != nullptr ? o.strides_bytes : Dims(result.shape.size(), 0);
  };
  const Dims all[4] = {strides_bytes(result), strides(a), strides(b), strides(c)};
  arguments_.loops = device_loops(result.shape, all, arguments_.stride);
  arguments_.dtype[0] = static_cast<int>(result.dtype);
  int* dtype = arguments_.dtype;
  for (const PointwiseOperand* o : {&a, &b, &c})
    if (++dtype; o->type != nullptr) *dtype = static_cast<int>(o->type->dtype);
  arguments_.formula.op = op;
  arguments_.formula.fixed = -1;
  arguments_.formula.number = 1;
  arguments_.formula.integer = 1;
}

void Pointwise::set_parameter(const Number& number) {
  arguments_.formula.number = number.real;
  arguments_.formula.integer = number.integer;
}

void Pointwise::set_fixed(int operand, const Number& number) {
  arguments_.formula.fixed = operand;
  arguments_.formula.fixed_number = number.real;
  arguments_.formula.fixed_integer = number.integer;
}

Status Pointwise::run(CudaStream& stream, void* result, const void* a, const void* b,
                      const void* c) const {
  return launch_elements(stream, kernel_, arguments_.loops.total, result, a, b, c, arguments_);
}

StepFormula Pointwise::formula(const std::array<int, 3>& inputs) const {
  StepFormula formula;
  formula.compute = compute_;
  formula.pointwise = arguments_.formula;
  formula.inputs = inputs;
  return formula;
}

// Computed in what holds every value of the source: a conversion rounds once.
Pointwise make_copy(const TensorType& to, const TensorType& from) {
  return {PointwiseOp::kCopy, from.dtype, to, {&from, strides_bytes(from)}};
}

}  // namespace shw::runtime::cuda
