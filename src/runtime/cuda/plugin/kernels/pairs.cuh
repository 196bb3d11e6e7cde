// Complex numbers that are pairs of f64, a thread a pair.
#pragma once
#include "device.cuh"

SHW_KERNEL shw_mul_pairs(void* out, const void* x, const void* y,
                         shw::runtime::cuda::PairArguments p) {
  using namespace shw::runtime::cuda;
  for (i64 t = thread_number(); t < p.pairs.total; t += num_threads()) {
    const Offsets<3> at = offsets_at<3>(p.pairs, p.stride, t);
    const char *from_x = static_cast<const char*>(x) + at.of[1],
               *from_y = static_cast<const char*>(y) + at.of[2];
    const double a = element<double>(from_x), b = element<double>(from_x + p.next[1]);
    const double c = element<double>(from_y), d = element<double>(from_y + p.next[2]);
    char* to = static_cast<char*>(out) + at.of[0];
    put(to, a * c - b * d);
    put(to + p.next[0], a * d + b * c);
  }
}
SHW_KERNEL shw_conj_pairs(void* out, const void* x, const void*,
                          shw::runtime::cuda::PairArguments p) {
  using namespace shw::runtime::cuda;
  for (i64 t = thread_number(); t < p.pairs.total; t += num_threads()) {
    const Offsets<3> at = offsets_at<3>(p.pairs, p.stride, t);
    const char* from = static_cast<const char*>(x) + at.of[1];
    char* to = static_cast<char*>(out) + at.of[0];
    put(to, element<double>(from));
    put(to + p.next[0], -element<double>(from + p.next[1]));
  }
}
