// Attention on tiles in f32, for operands that tensor cores do not take.
#pragma once
#include "runtime/cuda/plugin/flash.h"

namespace shw::runtime::cuda {

// Whether rows have up to 128 elements. Any layout, real types but f64, whose sums f32 would spoil.
bool fits_tiled(const AttentionArguments& arguments);

// `spans`: the documents of all positions; null: there are none.
Status launch_tiled(CudaStream& stream, const AttentionArguments& arguments,
                    const AttentionBuffers& buffers, const KeySpan* spans);
Status launch_tiled(CudaStream& stream, const AttentionBackwardArguments& arguments,
                    const AttentionGradients& buffers, const KeySpan* spans);

}  // namespace shw::runtime::cuda
