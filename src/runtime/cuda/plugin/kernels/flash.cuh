// Attention of 16-bit operands on tensor cores, forward and backward. A block works on a tile of
// queries (forward, and the gradient of the queries) or of keys (the gradients of keys and values)
// and goes over tiles of the other. Nothing of the size of the scores is stored. The gradients are
// two kernels, which compute the scores twice, because one would need atomics: this way results
// are the same on every run. Weights, and the gradients of scores, are rounded to the operands'
// type before they are multiplied.
#pragma once
#include "flash_forward.cuh"
#include "flash_gradients.cuh"

// Where it says so, two blocks at least share a multiprocessor: more would leave too few registers.
#define SHW_FLASH_KERNEL(...) extern "C" __global__ void __launch_bounds__(__VA_ARGS__)
#define SHW_FLASH_KERNELS(suffix, E, width)                                                       \
  SHW_FLASH_KERNEL(128)                                                                           \
  shw_flash_##suffix(void* out, float* lse, const void* q, const void* k, const void* v,          \
                     const void* bias, shw::runtime::cuda::AttentionArguments arguments) {        \
    __shared__ shw::runtime::cuda::FlashForward<width> tiles;                                     \
    shw::runtime::cuda::flash_forward<shw::runtime::cuda::E>(out, lse, q, k, v, bias, arguments,  \
                                                             tiles);                              \
  }                                                                                               \
  SHW_FLASH_KERNEL(128, 2)                                                                        \
  shw_flash_dq_##suffix(void* dq, void* dbias, float* deltas, const void* grad, const void* q,    \
                        const void* k, const void* v, const void* bias, const void* out,          \
                        const float* lse,                                                         \
                        shw::runtime::cuda::AttentionBackwardArguments arguments) {               \
    __shared__ shw::runtime::cuda::FlashBackward<width> tiles;                                    \
    shw::runtime::cuda::flash_dq<shw::runtime::cuda::E>(                                          \
        dq, dbias, deltas, {grad, q, k, v, bias, out, lse}, arguments, tiles);                    \
  }                                                                                               \
  SHW_FLASH_KERNEL(128)                                                                           \
  shw_flash_dkv_##suffix(void* dk, void* dv, float* parts, const float* deltas, const void* grad, \
                         const void* q, const void* k, const void* v, const void* bias,           \
                         const void* out, const float* lse,                                       \
                         shw::runtime::cuda::AttentionBackwardArguments arguments) {              \
    __shared__ shw::runtime::cuda::FlashBackward<width> tiles;                                    \
    shw::runtime::cuda::flash_dkv<shw::runtime::cuda::E>(                                         \
        dk, dv, parts, deltas, {grad, q, k, v, bias, out, lse}, arguments, tiles);                \
  }

SHW_KERNEL shw_flash_join(void* dk, void* dv, const float* parts,
                          shw::runtime::cuda::AttentionBackwardArguments arguments) {
  shw::runtime::cuda::flash_join(dk, dv, parts, arguments);
}
SHW_FLASH_KERNELS(bf16_64, BFloat16, 64)
SHW_FLASH_KERNELS(bf16_128, BFloat16, 128)
SHW_FLASH_KERNELS(f16_64, Float16, 64)
SHW_FLASH_KERNELS(f16_128, Float16, 128)
#undef SHW_FLASH_KERNELS
#undef SHW_FLASH_KERNEL
