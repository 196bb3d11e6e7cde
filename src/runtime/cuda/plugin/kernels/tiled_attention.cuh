// Attention in f32 on tiles, without tensor cores: what flash.cuh does, for operands of any real
// type and layout, and within documents. A block works on a tile of queries (forward, and the
// gradient of the queries) or of keys (the gradients of keys and values) and goes over tiles of the
// other. Nothing of the size of the scores is stored, and there are no atomics: results are the
// same on every run.
#pragma once
#include "tiled_forward.cuh"
#include "tiled_gradients.cuh"

#define SHW_TILED_KERNEL extern "C" __global__ void __launch_bounds__(128, 2)
#define SHW_TILED_KERNELS(width)                                                                \
  SHW_TILED_KERNEL shw_tiled_##width(                                                           \
      void* out, float* lse, const void* q, const void* k, const void* v, const void* bias,     \
      const shw::runtime::cuda::KeySpan* spans, const shw::runtime::u64* seed,                  \
      shw::runtime::cuda::AttentionArguments arguments) {                                       \
    using namespace shw::runtime::cuda;                                                         \
    using Shape = TiledShape<kTiledForwardRows, kTiledForwardRows, width>;                      \
    __shared__ TiledForward<Shape> tiles;                                                       \
    tiled_forward<Shape>(out, lse, q, k, v, bias, spans, seed, arguments, tiles);               \
  }                                                                                             \
  SHW_TILED_KERNEL shw_tiled_dq_##width(                                                        \
      void* dq, void* dbias, float* deltas, const void* grad, const void* q, const void* k,     \
      const void* v, const void* bias, const void* out, const float* lse,                       \
      const shw::runtime::cuda::KeySpan* spans, const shw::runtime::u64* seed,                  \
      shw::runtime::cuda::AttentionBackwardArguments arguments) {                               \
    using namespace shw::runtime::cuda;                                                         \
    using Shape = TiledBackwardShape<width>;                                                    \
    __shared__ TiledBackward<Shape> tiles;                                                      \
    tiled_dq<Shape>(dq, dbias, deltas, {grad, q, k, v, bias, out, lse, spans, seed}, arguments, \
                    tiles);                                                                     \
  }                                                                                             \
  SHW_TILED_KERNEL shw_tiled_dkv_##width(                                                       \
      void* dk, void* dv, const float* deltas, const void* grad, const void* q, const void* k,  \
      const void* v, const void* bias, const void* out, const float* lse,                       \
      const shw::runtime::cuda::KeySpan* spans, const shw::runtime::u64* seed,                  \
      shw::runtime::cuda::AttentionBackwardArguments arguments) {                               \
    using namespace shw::runtime::cuda;                                                         \
    using Shape = TiledBackwardShape<width>;                                                    \
    __shared__ TiledBackward<Shape> tiles;                                                      \
    tiled_dkv<Shape>(dk, dv, deltas, {grad, q, k, v, bias, out, lse, spans, seed}, arguments,   \
                     tiles);                                                                    \
  }

SHW_TILED_KERNELS(64)
SHW_TILED_KERNELS(128)
#undef SHW_TILED_KERNELS
#undef SHW_TILED_KERNEL
