// Random numbers and dropout: a thread an element. runtime/random.h draws, as on the CPU.
#pragma once
#include "math.cuh"
#include "runtime/random.h"

namespace shw::runtime::cuda {

__device__ inline u64 seed_in_run(const DeviceSeed& seed, const i64* run) {
  const u64 own = static_cast<u64>(seed.own);
  if (run == nullptr) return own;
  return seed_of_run(static_cast<u64>(run[0]), static_cast<u64>(run[seed.stride]), own);
}

// As `dtype` holds it.
__device__ inline float rounded_to(float x, int dtype) {
  if (dtype == kDeviceF16) return wider_half(narrower_half(x));
  return dtype == kDeviceBF16 ? wider_bfloat(narrower_bfloat(x)) : x;
}

template <class T>
__device__ inline void dropout(void* out, unsigned char* mask, const void* in, const i64* run,
                               const DrawArguments& a) {
  const u64 seed = seed_in_run(a.seed, run);
  for (i64 t = thread_number(); t < a.loops.total; t += num_threads()) {
    const Offsets<4> at = offsets_at<4>(a.loops, a.stride, t);
    const bool is_kept = stays(seed, static_cast<u64>(a.first + at.of[0]), a.least);
    if (mask != nullptr) mask[at.of[2]] = is_kept ? 1 : 0;
    if (out == nullptr) continue;
    const T x = load_real<T>(in, at.of[3], a.dtype);
    store_real(is_kept ? x * static_cast<T>(a.scale) : T{0}, out, at.of[1], a.dtype);
  }
}

}  // namespace shw::runtime::cuda

SHW_KERNEL shw_draw(void* out, const shw::runtime::cuda::i64* run,
                    shw::runtime::cuda::DrawArguments a) {
  using namespace shw::runtime::cuda;
  using namespace shw::runtime;
  const u64 seed = seed_in_run(a.seed, run);
  for (i64 t = thread_number(); t < a.loops.total; t += num_threads()) {
    const Offsets<2> at = offsets_at<2>(a.loops, a.stride, t);
    const u64 number = static_cast<u64>(a.first + at.of[0]);
    const float x = a.normal ? random_normal(seed, number) : random_unit(seed, number);
    store_real(rounded_to(x, a.drawn), out, at.of[1], a.dtype);
  }
}
SHW_KERNEL shw_dropout_f32(void* out, unsigned char* mask, const void* in,
                           const shw::runtime::cuda::i64* run,
                           shw::runtime::cuda::DrawArguments a) {
  shw::runtime::cuda::dropout<float>(out, mask, in, run, a);
}
SHW_KERNEL shw_dropout_f64(void* out, unsigned char* mask, const void* in,
                           const shw::runtime::cuda::i64* run,
                           shw::runtime::cuda::DrawArguments a) {
  shw::runtime::cuda::dropout<double>(out, mask, in, run, a);
}
// The seed of attention's dropout in this run, which its launches read.
SHW_KERNEL shw_attention_seed(void* seed, const shw::runtime::cuda::i64* run,
                              shw::runtime::cuda::DeviceSeed own) {
  using namespace shw::runtime::cuda;
  if (thread_number() == 0) *static_cast<shw::runtime::u64*>(seed) = seed_in_run(own, run);
}
