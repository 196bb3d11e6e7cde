// Shapes and strides as arguments of device code.
#pragma once
#include <span>

#include "runtime/cuda/plugin/kernels/arguments.h"
#include "runtime/strided.h"
#include "tensor/tensor_type.h"

namespace shw::runtime::cuda {

// The loops over `shape`, merged where all operands allow it. `strides`: per operand, in bytes;
// stride[o] receives those of operand o. At most kMaxLoopOperands operands.
DeviceLoops device_loops(const Dims& shape, std::span<const Dims> strides,
                         i64 (*stride)[kMaxLoops]);
// The same without merging, in the order of `shape`.
DeviceLoops plain_loops(const Dims& shape);
void set_strides(const Dims& strides, i64* to);

// Strides in bytes of a type's own dims.
Dims strides_bytes(const TensorType& type);

}  // namespace shw::runtime::cuda
