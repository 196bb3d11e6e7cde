// Pointwise kernels with broadcasting. Copies between windows are a special case.
#pragma once
#include <array>
#include <optional>

#include "runtime/cuda/plugin/bit_copy.h"
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

// A numeric attribute.
struct Number {
  double real = 0;
  int64_t integer = 0;
};
Number number_attr(const Attrs& attrs, AttrKey key, int64_t otherwise);

struct PointwiseOperand {
  const TensorType* type = nullptr;  // null: absent, or the number
  Dims strides_bytes = {};           // along the dims of the result
};

// One launch of a pointwise kernel, prepared.
class Pointwise {
 public:
  Pointwise() = default;
  // `compute`: the dtype whose compute type the elements are computed in.
  Pointwise(PointwiseOp op, Dtype compute, const TensorType& result, const PointwiseOperand& a,
            const PointwiseOperand& b = {}, const PointwiseOperand& c = {});
  void set_parameter(const Number& number);
  void set_fixed(int operand, const Number& number);
  Status run(CudaStream& stream, void* result, const void* a, const void* b,
             const void* c = nullptr) const;
  StepFormula formula(const std::array<int, 3>& inputs) const;

 private:
  friend Pointwise make_copy(const TensorType& to, const TensorType& from);
  void plan_vectors(std::span<const TensorType* const> types);
  bool is_aligned(const std::array<const void*, 4>& addresses) const;

  ComputeType compute_ = ComputeType::kF32;
  DeviceKernel kernel_ = DeviceKernel::shw_pointwise_f32;
  PointwiseArguments arguments_{};
  // The number of elements that a thread processes at a time if all addresses are aligned for it;
  // 0: the operands' elements are not contiguous.
  int at_once_ = 0;
  std::array<int64_t, 4>
      vector_bytes_{};           // of so many, in the result and the operands; 0: not read
  std::optional<BitCopy> bits_;  // for a copy without conversion
};

// The elements of `from` in the dtype and strides of `to`, which has its shape.
Pointwise make_copy(const TensorType& to, const TensorType& from);

}  // namespace shw::runtime::cuda
