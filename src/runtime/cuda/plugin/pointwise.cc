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

// Dtypes that vectorised kernels support.
bool is_vectorised(Dtype dtype) {
  return dtype == Dtype::kF32 || dtype == Dtype::kF16 || dtype == Dtype::kBF16 ||
         dtype == Dtype::kBool || dtype == Dtype::kU8;
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
      // An integer operand may be combined with a fractional number only if the types guarantee
      // that the fraction is 0.
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
  const TensorType* types[4] = {&result, a.type, b.type, c.type};
  arguments_.loops = device_loops(result.shape, all, arguments_.stride);
  for (int o = 0; o < 4; ++o)
    if (types[o] != nullptr) arguments_.dtype[o] = static_cast<int>(types[o]->dtype);
  arguments_.formula.op = op;
  arguments_.formula.fixed = -1;
  arguments_.formula.number = 1;
  arguments_.formula.integer = 1;
  plan_vectors(types);
}

// Finds out whether neighbouring elements of all operands are contiguous, and of dtypes that
// kernels can process several at a time.
void Pointwise::plan_vectors(std::span<const TensorType* const> types) {
  if (compute_ != ComputeType::kF32 || arguments_.loops.rank != 1 || types[0]->dtype == Dtype::kU8)
    return;
  int64_t widest = 0;
  std::array<int64_t, 4> bytes{};
  for (size_t o = 0; o < types.size(); ++o) {
    if (types[o] == nullptr) continue;
    const int64_t size = dtype_size(types[o]->dtype), stride = arguments_.stride[o][0];
    if (!is_vectorised(types[o]->dtype) || (stride != size && (stride != 0 || o == 0))) return;
    if (stride == size) bytes[o] = size;
    widest = std::max(widest, bytes[o]);
  }
  at_once_ = widest > 2 ? kDenseWide : kDenseNarrow;
  for (size_t o = 0; o < types.size(); ++o) vector_bytes_[o] = bytes[o] * at_once_;
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
  if (bits_) return bits_->run(stream, result, a);
  const int64_t total = arguments_.loops.total;
  if (at_once_ == 0 || !is_aligned({result, a, b, c}))
    return launch_elements(stream, kernel_, total, result, a, b, c, arguments_);
  const DeviceKernel dense = at_once_ == kDenseWide ? DeviceKernel::shw_pointwise_dense_wide
                                                    : DeviceKernel::shw_pointwise_dense_narrow;
  return launch_elements(stream, dense, (total + at_once_ - 1) / at_once_, result, a, b, c,
                         arguments_);
}

bool Pointwise::is_aligned(const std::array<const void*, 4>& addresses) const {
  for (size_t o = 0; o < addresses.size(); ++o)
    if (vector_bytes_[o] != 0 &&
        reinterpret_cast<uintptr_t>(addresses[o]) % static_cast<uintptr_t>(vector_bytes_[o]) != 0)
      return false;
  return true;
}

StepFormula Pointwise::formula(const std::array<int, 3>& inputs) const {
  StepFormula formula;
  formula.compute = compute_;
  formula.pointwise = arguments_.formula;
  formula.inputs = inputs;
  return formula;
}

// The compute type holds every value of the source, so a conversion rounds once. Elements of the
// same dtype keep their bits, as on the CPU.
Pointwise make_copy(const TensorType& to, const TensorType& from) {
  Pointwise copy(PointwiseOp::kCopy, from.dtype, to, {&from, strides_bytes(from)});
  if (to.dtype == from.dtype) copy.bits_.emplace(to, from);
  return copy;
}

}  // namespace shw::runtime::cuda
