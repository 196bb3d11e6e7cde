// Attention of 16-bit operands on tensor cores.
#pragma once
#include "runtime/cuda/plugin/kernels/arguments.h"
#include "runtime/cuda/plugin/stream.h"

namespace shw::runtime::cuda {

// Device memory that a launch reads or writes; null: absent.
struct AttentionBuffers {
  const void *q, *k, *v, *bias;
  void *out, *lse;
};
struct AttentionGradients {
  const void *grad, *q, *k, *v, *bias, *out, *lse;
  void *dq, *dk, *dv, *dbias, *deltas;
  void* parts;  // flash_part_bytes()
};

// Whether types and strides allow it: rows of up to 128 elements, of a multiple of 8, without gaps,
// at multiples of 16 bytes, and no number that does not fit into 32 bits.
bool fits_flash(const AttentionArguments& arguments);
bool fits_flash(const AttentionBackwardArguments& arguments);

// Whether the addresses allow it, too: operands and results at multiples of 16 bytes.
bool fits_flash(const AttentionBuffers& buffers);
bool fits_flash(const AttentionGradients& buffers);

// Into how many parts to divide the heads that share keys, so that blocks enough are there; and the
// memory that these need.
int64_t flash_parts(const AttentionArguments& arguments);
int64_t flash_part_bytes(const AttentionBackwardArguments& arguments);

Status launch_flash(CudaStream& stream, const AttentionArguments& arguments,
                    const AttentionBuffers& buffers);
// `arguments.parts`: flash_parts().
Status launch_flash(CudaStream& stream, const AttentionBackwardArguments& arguments,
                    const AttentionGradients& buffers);

}  // namespace shw::runtime::cuda
