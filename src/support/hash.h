// 64-bit hashing of bytes (XXH3, from libxxhash), for keys of memo tables and for fingerprints in
// plans, where the value is part of the format. Equal on every machine.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace shw {

uint64_t hash_bytes(const void* data, size_t size, uint64_t seed = 0);

inline uint64_t hash_bytes(std::string_view s, uint64_t seed = 0) {
  return hash_bytes(s.data(), s.size(), seed);
}
template <class T>
uint64_t hash_span(std::span<const T> s, uint64_t seed = 0) {
  static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
  return hash_bytes(s.data(), s.size_bytes(), seed);
}
inline uint64_t hash_combine(uint64_t a, uint64_t b) {
  const uint64_t both[2] = {a, b};
  return hash_bytes(both, sizeof both);
}

}  // namespace shw
