// The maximum of a row, and the sum of e^(x − maximum) over it, in one walk: what has been summed
// is scaled when the maximum grows. (Milakov and Gimelshein, Online normalizer calculation for
// softmax, 2018.)
#pragma once
#include "block.cuh"
#include "math.cuh"

namespace shw::runtime::cuda {

struct OnlineSum {
  double sum;  // of e^(x − most)
  float most;
};

__device__ inline OnlineSum no_sum() { return {0, -__int_as_float(0x7f800000)}; }

// e^(a − b), where a = b may be infinite.
__device__ inline double share(float a, float b) {
  return static_cast<double>(exp_of(a == b ? 0.0f : a - b));
}

__device__ inline void add(OnlineSum& s, float x) {
  if (!(x <= s.most)) {  // or one of them is NaN, which stays
    const float most = s.most != s.most ? s.most : x;
    s.sum *= share(s.most, most);
    s.most = most;
  }
  s.sum += share(x, s.most);
}
__device__ inline OnlineSum joined(const OnlineSum& a, const OnlineSum& b) {
  const bool is_of_a = a.most != a.most || b.most <= a.most;  // NaN stays
  const float most = is_of_a ? a.most : b.most;
  return {a.sum * share(a.most, most) + b.sum * share(b.most, most), most};
}
// As the sum of differences to the maximum is: infinity less infinity is NaN.
__device__ inline double finished(const OnlineSum& s) {
  const float none = s.most - s.most;
  return s.sum + static_cast<double>(none);
}

// Of all threads of a block (block.cuh).
template <int threads>
__device__ inline OnlineSum block_joined(const OnlineSum& sum, OnlineSum* shared) {
  return across_block<threads>(sum, shared,
                               [](const OnlineSum& a, const OnlineSum& b) { return joined(a, b); });
}

}  // namespace shw::runtime::cuda
