// Sorting along a dim: keys that have the order of the values, and the results from the entries in
// order. Reals are compared as f64, integers as int64.
#pragma once
#include "entries.cuh"
#include "math.cuh"

namespace shw::runtime::cuda {

// NaN is larger than everything, and both zeros are equal.
__device__ inline unsigned long long key_of(double x) {
  constexpr unsigned long long kSign = 1ull << 63;
  if (x != x) return kLastKey;
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(x + 0.0));
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
__device__ inline unsigned long long key_of(Int x) { return bits_of(x) ^ 1ull << 63; }

template <class T>
__device__ inline void rank_keys(SortEntry* entries, const void* in, const LineArguments& a,
                                 i64 first, i64 lines) {
  for (i64 t = thread_number(); t < lines * a.count; t += num_threads()) {
    const i64 line = first + t / a.count, place = t % a.count;
    const i64 at = offset_at(a.places, a.stride[0], line) + place * a.step[0];
    const unsigned long long key = key_of(load<T>(in, at, a.dtype[0]));
    entries[t] = {a.kind != 0 ? ~key : key, place};
  }
}

template <class T>
__device__ inline void write_ranked(void* values, void* places, const void* in,
                                    const SortEntry* entries, const LineArguments& a, i64 first,
                                    i64 lines, i64 taken) {
  for (i64 t = thread_number(); t < lines * taken; t += num_threads()) {
    const i64 line = first + t / taken, at = t % taken;
    const Offsets<3> to = offsets_at<3>(a.places, a.stride, line);
    const i64 place = entries[t / taken * a.count + at].place;
    if (values != nullptr)
      store(load<T>(in, to.of[0] + place * a.step[0], a.dtype[0]), values,
            to.of[1] + at * a.step[1], a.dtype[1]);
    if (places != nullptr) store(Int{place}, places, to.of[2] + at * a.step[2], a.dtype[2]);
  }
}

}  // namespace shw::runtime::cuda

#define SHW_RANKING(suffix, T)                                                                     \
  SHW_KERNEL shw_rank_keys_##suffix(                                                               \
      shw::runtime::cuda::SortEntry* entries, const void* in, shw::runtime::cuda::LineArguments a, \
      shw::runtime::cuda::i64 first, shw::runtime::cuda::i64 lines) {                              \
    using namespace shw::runtime::cuda;                                                            \
    rank_keys<T>(entries, in, a, first, lines);                                                    \
  }                                                                                                \
  SHW_KERNEL shw_rank_write_##suffix(                                                              \
      void* values, void* places, const void* in, const shw::runtime::cuda::SortEntry* entries,    \
      shw::runtime::cuda::LineArguments a, shw::runtime::cuda::i64 first,                          \
      shw::runtime::cuda::i64 lines, shw::runtime::cuda::i64 taken) {                              \
    using namespace shw::runtime::cuda;                                                            \
    write_ranked<T>(values, places, in, entries, a, first, lines, taken);                          \
  }
SHW_RANKING(f64, double)
SHW_RANKING(i64, Int)
#undef SHW_RANKING
