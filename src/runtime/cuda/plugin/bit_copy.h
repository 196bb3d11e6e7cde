// Copies of the bits of elements between windows of one shape and dtype.
#pragma once
#include "runtime/cuda/plugin/stream.h"
#include "tensor/tensor_type.h"

namespace shw::runtime::cuda {

// One copy, prepared: the driver's where neither window has gaps and both have one order; by tiles
// where one is the other transposed; else in units of as many bytes as are side by side in both.
class BitCopy {
 public:
  BitCopy(const TensorType& to, const TensorType& from);
  Status run(CudaStream& stream, void* to, const void* from) const;

 private:
  enum class Kind { kBlock, kRuns, kTransposed };
  bool transpose(int64_t element);
  Status run_units(CudaStream& stream, void* to, const void* from) const;

  Kind kind_ = Kind::kRuns;
  bool alike_ = true;          // the windows have the same strides
  int64_t run_bytes_ = 0;      // of what is side by side in both, or of an element
  uintptr_t granularity_ = 0;  // all distances in bytes, or'ed
  MoveArguments move_{};
  TransposeArguments transpose_{};
};

}  // namespace shw::runtime::cuda
