// Attention of 16-bit operands on tensor cores.
#pragma once
#include "runtime/cuda/plugin/kernels/arguments.h"
#include "runtime/cuda/plugin/stream.h"

namespace shw::runtime::cuda {

// Device memory that a launch reads or writes; null: absent.
struct AttentionBuffers {
  const void *q, *k, *v, *bias;
  void *out, *lse;
  const void* seed;  // of the dropout; null: there is none
};
struct AttentionGradients {
  const void *grad, *q, *k, *v, *bias, *out, *lse;
  void *dq, *dk, *dv, *dbias, *deltas;
  void* parts;       // flash_part_bytes()
  const void* seed;  // of the dropout; null: there is none
};

// Whether types and strides are supported: rows of up to 128 elements, a multiple of 8, contiguous,
// aligned to 16 bytes; and all sizes fit in 32 bits.
bool fits_flash(const AttentionArguments& arguments);
bool fits_flash(const AttentionBackwardArguments& arguments);

// Whether the addresses are supported: operands and results aligned to 16 bytes.
bool fits_flash(const AttentionBuffers& buffers);
bool fits_flash(const AttentionGradients& buffers);

// The number of parts into which the heads that share keys are divided, so that there are enough
// blocks; and the size of the memory for the parts.
int64_t flash_parts(const AttentionArguments& arguments);
int64_t flash_part_bytes(const AttentionBackwardArguments& arguments);

Status launch_flash(CudaStream& stream, const AttentionArguments& arguments,
                    const AttentionBuffers& buffers);
// `arguments.parts`: flash_parts().
Status launch_flash(CudaStream& stream, const AttentionBackwardArguments& arguments,
                    const AttentionGradients& buffers);

}  // namespace shw::runtime::cuda
