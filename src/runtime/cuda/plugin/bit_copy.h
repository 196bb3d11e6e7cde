// Bitwise copies between windows of the same shape and dtype.
#pragma once
#include "runtime/cuda/plugin/stream.h"
#include "tensor/tensor_type.h"

namespace shw::runtime::cuda {

// A prepared copy. If neither window has gaps and both have the same dim order, the driver copies.
// If one window is the transpose of the other, a kernel copies in tiles. Otherwise a kernel copies
// in units of as many bytes as are contiguous in both.
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
  int64_t run_bytes_ = 0;      // contiguous in both windows, or one element
  uintptr_t granularity_ = 0;  // bitwise or of all strides in bytes
  MoveArguments move_{};
  TransposeArguments transpose_{};
};

}  // namespace shw::runtime::cuda
