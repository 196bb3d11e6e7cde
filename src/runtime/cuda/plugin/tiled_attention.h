// Tiled attention in f32, for operands that tensor cores do not support.
#pragma once
#include "runtime/cuda/plugin/flash.h"

namespace shw::runtime::cuda {

// True for rows of up to 128 elements, in any layout, of real types except f64, for which f32 is
// not accurate enough.
bool fits_tiled(const AttentionArguments& arguments);

// `spans`: the documents of all positions; null: there are none.
Status launch_tiled(CudaStream& stream, const AttentionArguments& arguments,
                    const AttentionBuffers& buffers, const KeySpan* spans);
Status launch_tiled(CudaStream& stream, const AttentionBackwardArguments& arguments,
                    const AttentionGradients& buffers, const KeySpan* spans);

}  // namespace shw::runtime::cuda
