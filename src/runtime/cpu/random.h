// Random numbers that depend on a seed and an element's place alone, so that every sharding draws
// the same.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

namespace shw::runtime::cpu {

// SplitMix64's finaliser (Steele, Lea & Flood 2014) over seed and counter: passes the usual tests
// of randomness, needs no state.
inline uint64_t random_bits(uint64_t seed, uint64_t counter) {
  const auto mixed = [](uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  };
  return mixed(mixed(seed + 0x9e3779b97f4a7c15u) + (counter + 1) * 0x9e3779b97f4a7c15u);
}

// The seed that a step draws with in one run: of the run's seed and offset, and the step's own.
inline uint64_t seed_of_run(uint64_t seed, uint64_t offset, uint64_t step) {
  return random_bits(random_bits(seed, offset), step);
}

// In [0, 1), a multiple of 2⁻²⁴: exact in f32.
inline float random_unit(uint64_t seed, uint64_t counter) {
  return static_cast<float>(random_bits(seed, counter) >> 40) * 0x1p-24f;
}

// Of the standard normal distribution (Box & Muller 1958).
inline float random_normal(uint64_t seed, uint64_t counter) {
  const double radius = std::sqrt(-2 * std::log(1.0 - random_unit(seed, 2 * counter)));
  const double angle = 2 * std::numbers::pi * random_unit(seed, 2 * counter + 1);
  return static_cast<float>(radius * std::cos(angle));
}

}  // namespace shw::runtime::cpu
