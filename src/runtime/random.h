// Random numbers that depend on a seed and an element's place alone, so that every sharding and
// every backend draws the same to the bit. Device code includes this file, too: it uses exact
// integers and the operations + - * / and the square root, which all round alike, and no library.
#pragma once
#ifdef __CUDACC__
#define SHW_ANYWHERE __device__ inline
#else
#include <cmath>
#define SHW_ANYWHERE inline
#endif

namespace shw::runtime {

using u64 = unsigned long long;

// SplitMix64's finaliser (Steele, Lea & Flood 2014) over seed and counter: passes the usual tests
// of randomness, needs no state.
SHW_ANYWHERE u64 mixed_bits(u64 x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
SHW_ANYWHERE u64 random_bits(u64 seed, u64 counter) {
  return mixed_bits(mixed_bits(seed + 0x9e3779b97f4a7c15u) + (counter + 1) * 0x9e3779b97f4a7c15u);
}

// The seed that a step draws with in one run: of the run's seed and offset, and the step's own.
SHW_ANYWHERE u64 seed_of_run(u64 seed, u64 offset, u64 step) {
  return random_bits(random_bits(seed, offset), step);
}

constexpr u64 kRandomUnits = u64{1} << 24;  // a draw is one of as many numbers, all exact in f32

// In [0, 1), a multiple of 2⁻²⁴.
SHW_ANYWHERE float random_unit(u64 seed, u64 counter) {
  return static_cast<float>(random_bits(seed, counter) >> 40) / static_cast<float>(kRandomUnits);
}

// Whether dropout keeps element `counter`: its 24 random bits are at least `least`, which for a
// share `p` is p · 2²⁴, rounded up (draw_shape.h).
SHW_ANYWHERE bool stays(u64 seed, u64 counter, u64 least) {
  return (random_bits(seed, counter) >> 40) >= least;
}

// The sum of c[k]·z^k, the highest power first.
template <int N>
SHW_ANYWHERE double polynomial(const double (&c)[N], double z) {
  double sum = c[N - 1];
  for (int k = N - 2; k >= 0; --k) sum = sum * z + c[k];
  return sum;
}

// The natural logarithm of n·2⁻²⁴ for 1 ≤ n ≤ 2²⁴, within 2 ulp. With n·2⁻²⁴ = 2^e·m, m near 1:
// ln m = 2·artanh((m - 1)/(m + 1)) by its series, of which the next term is below 2⁻⁵⁷.
SHW_ANYWHERE double log_of_units(u64 n) {
  double m = static_cast<double>(n) / static_cast<double>(kRandomUnits);
  int e = 0;
  for (; m < 0.70710678118654752; m = m + m) --e;  // exact
  constexpr double kSeries[] = {1. / 3,  1. / 5,  1. / 7,  1. / 9,  1. / 11,
                                1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21};
  const double f = m - 1, s = f / (2 + f), z = s * s;
  // ln m = f - s·(f - 2·z·(…)): what is rounded is small beside f.
  const double ln_m = f - s * (f - 2 * z * polynomial(kSeries, z));
  // ln 2 in two parts (Cody and Waite): e times the first one is exact.
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  return e * kLn2High + (ln_m + e * kLn2Low);
}

// The cosine of a turn of n·2⁻²⁴ for 0 ≤ n < 2²⁴, within 2 ulp: brought to the first eighth of a
// turn without rounding, then the Taylor series of cosine or sine.
SHW_ANYWHERE double cos_of_units(u64 n) {
  constexpr u64 kHalf = kRandomUnits / 2, kQuarter = kRandomUnits / 4, kEighth = kRandomUnits / 8;
  constexpr double kTau = 6.283185307179586477;
  if (n > kHalf) n = kRandomUnits - n;        // cos(-x) = cos x
  const double sign = n > kQuarter ? -1 : 1;  // cos(π - x) = -cos x
  if (n > kQuarter) n = kHalf - n;
  const bool by_sine = n > kEighth;  // cos(π/2 - x) = sin x
  if (by_sine) n = kQuarter - n;
  const double x = static_cast<double>(n) / static_cast<double>(kRandomUnits) * kTau, z = x * x;
  constexpr double kSine[] = {
      -1. / 6,         1. / 120,         -1. / 5040,           1. / 362880,
      -1. / 39916800., 1. / 6227020800., -1. / 1307674368000., 1. / 355687428096000.};
  constexpr double kCosine[] = {
      1. / 24,         -1. / 720,          1. / 40320,           -1. / 3628800,
      1. / 479001600., -1. / 87178291200., 1. / 20922789888000., -1. / 6402373705728000.};
  if (by_sine) return sign * (x + x * (z * polynomial(kSine, z)));
  return sign * (1 - (z / 2 - z * z * polynomial(kCosine, z)));
}

// Of the standard normal distribution (Box & Muller 1958).
SHW_ANYWHERE float random_normal(u64 seed, u64 counter) {
  const u64 distance = random_bits(seed, 2 * counter) >> 40;
  const u64 angle = random_bits(seed, 2 * counter + 1) >> 40;
  const double square = -2 * log_of_units(kRandomUnits - distance);
#ifdef __CUDACC__
  const double radius = sqrt(square);
#else
  const double radius = std::sqrt(square);
#endif
  return static_cast<float>(radius * cos_of_units(angle));
}

}  // namespace shw::runtime
